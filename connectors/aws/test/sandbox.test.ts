import { Sha256 } from "@aws-crypto/sha256-js";
import { parseXml, textOf } from "@reversi-connector/http/xml";
import { SignatureV4 } from "@smithy/signature-v4";
import { keys } from "../src/sandbox/wire.ts";
import { current, putObject } from "../src/sandbox.ts";
import { bench } from "./bench.ts";

interface Changes {
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Sent in the place of what was signed. */
  readonly tampered?: {
    readonly headers?: Record<string, string | undefined>;
    readonly path?: string;
    readonly body?: string;
  };
  readonly signingDate?: Date;
}

/** Speaks to the sandbox with Amazon's own signer, without the connector. */
async function vendor() {
  const on = await bench();
  const { hostname, port, host } = new URL(on.backend.address);
  const signer = new SignatureV4({
    ...{ credentials: keys, region: "eu-central-1", service: "s3", sha256: Sha256, uriEscapePath: false },
  });
  const ask = async (method: string, path: string, changes: Changes = {}) => {
    const { query = {}, headers = {}, body = "", tampered = {}, signingDate = new Date() } = changes;
    const signed = await signer.sign(
      {
        ...{ method, protocol: "http:", hostname, port: Number(port), path, query, body },
        headers: { host, ...headers },
      },
      { signingDate },
    );
    const { host: _, ...own } = { ...signed.headers, ...tampered.headers };
    const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join("="));
    const url = `${on.backend.address}${tampered.path ?? path}${search.length > 0 ? `?${search.join("&")}` : ""}`;
    const sent = tampered.body ?? body;
    const bytes = method === "PUT" ? new TextEncoder().encode(sent) : null;
    const entries = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const answer = await fetch(url, { method, headers: entries, body: bytes, redirect: "manual" });
    const text = await answer.text();
    const root = parseXml(text);
    return { status: answer.status, headers: answer.headers, text, root, code: textOf(root, "Code") };
  };
  return { ...on, ask };
}

test("Amazon's own signer is accepted, on objects, lists and copies", async () => {
  const { ask, backend } = await vendor();
  const put = await ask("PUT", "/notes/a%20b%2B%C3%BC.txt", {
    body: "hello",
    headers: { "content-type": "text/plain" },
  });
  expect([put.status, put.text, put.headers.get("etag")]).toEqual([
    200,
    "",
    '"5d41402abc4b2a76b9719d911017c592"',
  ]);
  expect(current(backend.bucket("notes"), "a b+ü.txt")?.content.toString()).toBe("hello");
  const copied = await ask("PUT", "/notes/copy", {
    headers: { "x-amz-copy-source": "/notes/a%20b%2B%C3%BC.txt" },
  });
  expect(copied.root?.name).toBe("CopyObjectResult");
  const query = { "list-type": "2", prefix: "a ", "encoding-type": "url" };
  const list = await ask("GET", "/notes", { query });
  expect([list.status, textOf(list.root, "Prefix"), textOf(list.root, "KeyCount")]).toEqual([200, "a+", "1"]);
  const head = await ask("HEAD", "/notes/copy");
  expect([head.status, head.headers.get("content-length"), head.headers.get("content-type")]).toEqual([
    200,
    "5",
    "text/plain",
  ]);
  expect((await ask("DELETE", "/notes/copy")).status).toBe(204);
  expect((await ask("HEAD", "/notes")).status).toBe(200);
});

test("what differs from what was signed is refused, and changes nothing", async () => {
  const { ask, backend } = await vendor();
  const before = JSON.stringify(await backend.state());
  const tampering: readonly (readonly [string, Changes["tampered"] & object, number, string])[] = [
    ["another key", { path: "/notes/other" }, 403, "SignatureDoesNotMatch"],
    ["another body", { body: "other" }, 400, "XAmzContentSHA256Mismatch"],
    ["another header", { headers: { "x-amz-date": "20200101T000000Z" } }, 403, "AccessDenied"],
    ["another hash", { headers: { "x-amz-content-sha256": "0".repeat(64) } }, 403, "SignatureDoesNotMatch"],
    ["a header more", { headers: { "x-amz-meta-x": "1" } }, 403, "AccessDenied"],
    ["no signature", { headers: { authorization: undefined } }, 403, "AccessDenied"],
    ["no hash", { headers: { "x-amz-content-sha256": undefined } }, 400, "InvalidRequest"],
    ["no token", { headers: { "x-amz-security-token": undefined } }, 400, "InvalidToken"],
    [
      "a malformed signature",
      { headers: { authorization: "AWS4-HMAC-SHA256 x" } },
      400,
      "AuthorizationHeaderMalformed",
    ],
  ];
  for (const [what, tampered, status, code] of tampering) {
    const answer = await ask("PUT", "/notes/new", { body: "new", tampered });
    expect([what, answer.status, answer.code]).toEqual([what, status, code]);
  }
  const late = await ask("GET", "/notes/todo.txt", { signingDate: new Date(Date.now() - 20 * 60_000) });
  expect([late.status, late.code]).toEqual([403, "RequestTimeTooSkewed"]);
  expect(JSON.stringify(await backend.state())).toBe(before);
});

test("conditions on writes are those of S3", async () => {
  const { ask, backend } = await vendor();
  const etag = current(backend.bucket("notes"), "todo.txt")?.etag ?? "";
  const source = { "x-amz-copy-source": "/notes/public/index.html" };
  const cases: readonly (readonly [string, string, Record<string, string>, number, string | undefined])[] = [
    ["PUT", "todo.txt", { "if-none-match": "*" }, 412, "PreconditionFailed"],
    ["PUT", "todo.txt", { "if-match": '"other"' }, 412, "PreconditionFailed"],
    ["PUT", "todo.txt", { "if-match": etag.replaceAll('"', "") }, 412, "PreconditionFailed"],
    ["PUT", "nothing", { "if-match": etag }, 404, "NoSuchKey"],
    ["PUT", "todo.txt", { "if-none-match": etag }, 501, "NotImplemented"],
    ["PUT", "todo.txt", { ...source, "if-none-match": "*" }, 412, "PreconditionFailed"],
    ["PUT", "new", { ...source, "x-amz-copy-source-if-match": etag }, 412, "PreconditionFailed"],
    ["PUT", "new", { "x-amz-copy-source": "/notes/nothing" }, 404, "NoSuchKey"],
    ["PUT", "new", { "x-amz-copy-source": "/none/nothing" }, 404, "NoSuchBucket"],
    ["DELETE", "todo.txt", { "if-match": '"other"' }, 412, "PreconditionFailed"],
    ["DELETE", "nothing", { "if-match": "*" }, 404, "NoSuchKey"],
    ["PUT", "todo.txt", { "if-match": etag }, 200, undefined],
  ];
  for (const [method, key, headers, status, code] of cases) {
    const answer = await ask(method, `/notes/${key}`, { headers });
    expect([method, key, headers, answer.status, answer.code]).toEqual([method, key, headers, status, code]);
  }
  expect((await ask("DELETE", "/notes/nothing")).status).toBe(204);
});

test("what S3 does not know is refused as S3 refuses it", async () => {
  const { ask } = await vendor();
  const cases: readonly (readonly [string, string, Changes, number, string])[] = [
    ["GET", "/notes/todo.txt", { query: { nonsense: "1" } }, 400, "InvalidArgument"],
    ["PUT", "/notes/a", { headers: { "x-amz-nonsense": "1" } }, 501, "NotImplemented"],
    ["PUT", "/notes/a", { headers: { "x-amz-storage-class": "COLD" } }, 400, "InvalidStorageClass"],
    ["PUT", "/notes/a", { headers: { "x-amz-meta-x": "x".repeat(2_100) } }, 400, "MetadataTooLarge"],
    ["PUT", "/notes/a", { headers: { "x-amz-checksum-sha256": `${"A".repeat(43)}=` } }, 400, "BadDigest"],
    ["PUT", `/notes/${"k".repeat(1_025)}`, {}, 400, "KeyTooLongError"],
    ["PUT", "/notes", {}, 405, "MethodNotAllowed"],
    ["GET", "/none/a", {}, 404, "NoSuchBucket"],
    ["GET", "/far-away/a", {}, 301, "PermanentRedirect"],
    ["GET", "/notes", { query: { "list-type": "2", "max-keys": "many" } }, 400, "InvalidArgument"],
    ["GET", "/notes", { query: { "list-type": "2", "encoding-type": "gzip" } }, 400, "InvalidArgument"],
  ];
  for (const [method, path, changes, status, code] of cases) {
    const answer = await ask(method, path, changes);
    expect([path, answer.status, answer.code]).toEqual([path, status, code]);
    expect(answer.headers.get("x-amz-request-id")).toMatch(/^[0-9A-F]{16}$/);
  }
  expect((await ask("GET", "/far-away/a")).headers.get("x-amz-bucket-region")).toBe("eu-west-1");
});

test("what Amazon's own clients send besides is overlooked, and their checksum held to", async () => {
  const { ask } = await vendor();
  const put = (crc: string) =>
    ask("PUT", "/notes/crc.txt", {
      body: "hello",
      query: { "x-id": "PutObject" },
      headers: {
        ...{ "x-amz-user-agent": "aws-sdk-js/3", "x-amz-sdk-checksum-algorithm": "CRC32" },
        "x-amz-checksum-crc32": crc,
      },
    });
  expect((await put("AAAAAA==")).code).toBe("BadDigest");
  expect((await put("NhCmhg==")).status).toBe(200);
  expect(await ask("GET", "/notes/crc.txt", { query: { "x-id": "GetObject" } })).toMatchObject({
    status: 200,
    text: "hello",
  });
});

test("a copy keeps content headers, metadata and tags, and neither ACL nor storage class", async () => {
  const { ask, backend } = await vendor();
  await ask("PUT", "/notes/copy", { headers: { "x-amz-copy-source": "notes/public/index.html" } });
  const copy = current(backend.bucket("notes"), "copy");
  expect(copy).toMatchObject({ tags: { team: "web" }, acl: "private", storageClass: "STANDARD" });
  expect(copy?.headers["content-type"]).toBe("text/html");
});

test("versions, markers and suspended versioning are those of S3", async () => {
  const { ask, backend } = await vendor();
  const bucket = backend.bucket("versioned.notes");
  const deleted = await ask("DELETE", "/versioned.notes/plan.txt");
  expect([deleted.status, deleted.headers.get("x-amz-delete-marker")]).toEqual([204, "true"]);
  const head = await ask("HEAD", "/versioned.notes/plan.txt");
  expect([head.status, head.headers.get("x-amz-delete-marker")]).toEqual([404, "true"]);
  expect(bucket.objects.get("plan.txt")).toHaveLength(3);
  bucket.versioning = "suspended";
  for (const body of ["one", "two"]) {
    expect((await ask("PUT", "/versioned.notes/plan.txt", { body })).headers.get("x-amz-version-id")).toBe(
      "null",
    );
  }
  expect(bucket.objects.get("plan.txt")).toHaveLength(4);
});

test("every action can be taken away", async () => {
  const { ask, world } = await vendor();
  const cases = [
    ["s3:GetObject", "GET", "/notes/todo.txt", {}],
    ["s3:ListBucket", "GET", "/notes", { query: { "list-type": "2" } }],
    ["s3:ListBucket", "GET", "/notes/nothing", {}],
    ["s3:PutObject", "PUT", "/notes/a", {}],
    ["s3:DeleteObject", "DELETE", "/notes/a", {}],
    [
      "s3:GetObjectTagging",
      "PUT",
      "/notes/a",
      { headers: { "x-amz-copy-source": "/notes/public/index.html" } },
    ],
  ] as const;
  for (const [action, method, path, changes] of cases) {
    world.allowed.delete(action);
    const answer = await ask(method, path, changes);
    expect([action, answer.status, answer.code]).toEqual([action, 403, "AccessDenied"]);
    world.allowed.add(action);
  }
});

test("an object of the size that it claims is told by a HEAD", async () => {
  const { ask, backend } = await vendor();
  putObject(backend.bucket("notes"), "huge", "…", { claimedSize: 6 * 1024 ** 3 });
  expect((await ask("HEAD", "/notes/huge")).headers.get("content-length")).toBe(String(6 * 1024 ** 3));
  const copy = await ask("PUT", "/notes/copy", { headers: { "x-amz-copy-source": "/notes/huge" } });
  expect([copy.status, copy.code]).toEqual([400, "InvalidRequest"]);
});
