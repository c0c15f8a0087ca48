import { createHash } from "node:crypto";
import { addContainer, attach, changeBlob, putBlob } from "../src/sandbox.ts";
import { bench } from "./bench.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** Speaks to the sandbox without the connector. */
async function vendor() {
  const on = await bench();
  const { token, endpoint = "" } = on.backend.options;
  const good = { authorization: `Bearer ${token}`, "x-ms-version": "2023-11-03" };
  const ask = async (method: string, path: string, changes: Headers = {}, body?: string) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${endpoint}${path}`, {
      method,
      headers: headers as [string, string][],
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const source = {
    "x-ms-copy-source": `${endpoint}/notes/todo.txt`,
    "x-ms-copy-source-authorization": `Bearer ${token}`,
  };
  return { ...on, ask, copying: { ...source, "x-ms-requires-sync": "true" }, source };
}
const block = { "x-ms-blob-type": "BlockBlob" };
const blob = "/notes/todo.txt";

describe("a request that Azure refuses", () => {
  test.each<[string, [string, string, Headers?, string?], number, string]>([
    ["no credential", ["GET", blob, { authorization: undefined }], 401, "NoAuthenticationInformation"],
    ["another credential", ["GET", blob, { authorization: "Bearer x" }], 401, "InvalidAuthenticationInfo"],
    ["no version", ["GET", blob, { "x-ms-version": undefined }], 400, "MissingRequiredHeader"],
    ["an unknown version", ["GET", blob, { "x-ms-version": "2023-11-04" }], 400, "InvalidHeaderValue"],
    ["an unknown parameter", ["GET", `${blob}?comp=tags`], 400, "UnsupportedQueryParameter"],
    ["an unknown header", ["DELETE", blob, { "x-ms-tags": "a=b" }], 400, "UnsupportedHeader"],
    ["an ETag without its quotes", ["DELETE", blob, { "if-match": "0x8D" }], 400, "InvalidHeaderValue"],
    ["another ETag", ["PUT", blob, { ...block, "if-match": '"0x8D"' }, "x"], 412, "ConditionNotMet"],
    [
      "* on a blob that is there",
      ["PUT", blob, { ...block, "if-none-match": "*" }, "x"],
      409,
      "BlobAlreadyExists",
    ],
    [
      "two conditions",
      ["PUT", blob, { ...block, "if-match": '"a"', "if-none-match": '"b"' }, "x"],
      400,
      "MultipleConditionHeadersNotSupported",
    ],
    ["no blob type", ["PUT", blob, {}, "x"], 400, "MissingRequiredHeader"],
    ["another MD5", ["PUT", blob, { ...block, "content-md5": "AAAA" }, "x"], 400, "Md5Mismatch"],
    [
      "metadata with a hyphen",
      ["PUT", blob, { ...block, "x-ms-meta-a-b": "x" }, "x"],
      400,
      "InvalidMetadata",
    ],
    [
      "an unknown tier",
      ["PUT", blob, { ...block, "x-ms-access-tier": "Warm" }, "x"],
      400,
      "InvalidHeaderValue",
    ],
    ["a name that ends with a dot", ["PUT", "/notes/a%2e", block, "x"], 400, "InvalidUri"],
    ["a broken name", ["PUT", "/notes/%zz", block, "x"], 400, "InvalidUri"],
    ["an unknown blob", ["DELETE", "/notes/none"], 404, "BlobNotFound"],
    [
      "an unknown blob, conditionally",
      ["DELETE", "/notes/none", { "if-match": '"a"' }],
      412,
      "ConditionNotMet",
    ],
    ["an unknown container", ["GET", "/elsewhere/x"], 404, "ContainerNotFound"],
    ["a container's name that is none", ["GET", "/No/x"], 400, "InvalidResourceName"],
    [
      "no page size",
      ["GET", "/notes?restype=container&comp=list&maxresults=0"],
      400,
      "OutOfRangeQueryParameterValue",
    ],
    [
      "a marker of another list",
      ["GET", "/notes?restype=container&comp=list&marker=x"],
      400,
      "OutOfRangeInput",
    ],
    ["a list of nothing", ["GET", "/notes?comp=list"], 400, "InvalidQueryParameterValue"],
    ["a verb that blobs have not", ["POST", blob, {}, "x"], 405, "UnsupportedHttpVerb"],
  ])("%s", async (_, request, status, code) => {
    const { ask, state } = await vendor();
    const before = await state();
    const answer = await ask(...request);
    expect([answer.status, answer.headers.get("x-ms-error-code")]).toEqual([status, code]);
    expect(answer.headers.get("content-type")).toBe("application/xml");
    expect(answer.text).toMatch(`<Error><Code>${code}</Code><Message>`);
    expect(answer.text).toMatch(/\nRequestId:[0-9a-f-]{36}\nTime:\d{4}-/);
    expect(await state()).toEqual(before);
  });

  test("a HEAD has the code in its header alone", async () => {
    const { ask } = await vendor();
    const { status, headers, text } = await ask("HEAD", "/notes/none");
    expect([status, headers.get("x-ms-error-code"), text]).toEqual([404, "BlobNotFound", ""]);
  });
});

describe("a copy", () => {
  test("is refused without a token for its source, or with another one", async () => {
    const { ask, copying, state } = await vendor();
    const before = await state();
    for (const other of [undefined, "Bearer x"]) {
      const answer = await ask(
        "PUT",
        "/notes/copy",
        { ...copying, "x-ms-copy-source-authorization": other },
        "",
      );
      expect([answer.status, answer.headers.get("x-ms-error-code")]).toEqual([401, "CannotVerifyCopySource"]);
    }
    expect(await state()).toEqual(before);
  });

  test.each<[string, Headers, number, string]>([
    ["a source elsewhere", { "x-ms-copy-source": "https://example.com/a/b" }, 404, "CannotVerifyCopySource"],
    ["a source that is not there", { "x-ms-copy-source": "none" }, 404, "CannotVerifyCopySource"],
    ["a changed source", { "x-ms-source-if-match": '"0x8D"' }, 412, "SourceConditionNotMet"],
    ["another word for true", { "x-ms-requires-sync": "yes" }, 400, "InvalidHeaderValue"],
  ])("of %s is refused", async (_, changes, status, code) => {
    const { ask, copying } = await vendor();
    const answer = await ask("PUT", "/notes/copy", { ...copying, ...changes }, "");
    expect([answer.status, answer.headers.get("x-ms-error-code")]).toEqual([status, code]);
  });

  test("brings content headers, metadata and MD5, and neither tags nor tier", async () => {
    const { ask, copying, notes, backend } = await vendor();
    changeBlob(notes, "todo.txt", { tags: { a: "b" }, tier: "Cold" });
    const { status, headers } = await ask("PUT", "/notes/copy", copying, "");
    expect([status, headers.get("x-ms-copy-status")]).toEqual([202, "success"]);
    const source = notes.blobs.get("todo.txt");
    expect(notes.blobs.get("copy")).toMatchObject({ headers: source?.headers, md5: source?.md5, tags: {} });
    expect(notes.blobs.get("copy")?.tier).toBeUndefined();
    expect(backend.world.copyStatus).toBe("success");
  });

  test("by Put Blob From URL brings no metadata; without x-ms-requires-sync it is only an order", async () => {
    const { ask, source, notes } = await vendor();
    expect(await ask("PUT", "/notes/copy", { ...source, ...block }, "")).toMatchObject({ status: 201 });
    expect(notes.blobs.get("copy")?.headers).toEqual({
      "content-type": "text/plain",
      "cache-control": "no-store",
    });
    const { status, headers } = await ask("PUT", "/notes/later", source, "");
    expect([status, headers.get("x-ms-copy-status")]).toEqual([202, "pending"]);
    expect(notes.blobs.has("later")).toBe(false);
  });

  test("above 256 MiB is refused, and goes by Put Blob From URL up to 5000 MiB", async () => {
    const { ask, copying, source, notes } = await vendor();
    const code = async (headers: Headers) =>
      (await ask("PUT", "/notes/copy", headers, "")).headers.get("x-ms-error-code");
    changeBlob(notes, "todo.txt", { claimedSize: 257 * 1024 ** 2 });
    expect(await code(copying)).toBe("CannotVerifyCopySource");
    expect(await code({ ...source, ...block })).toBeNull();
    changeBlob(notes, "todo.txt", { claimedSize: 5001 * 1024 ** 2 });
    expect(await code({ ...source, ...block })).toBe("CannotVerifyCopySource");
  });

  test("writes over no blob of another type, and over none that is protected", async () => {
    const { ask, copying, notes } = await vendor();
    for (const [change, code] of [
      [{ type: "PageBlob" }, "InvalidBlobType"],
      [{ leased: true }, "LeaseIdMissing"],
      [{ legalHold: true }, "BlobImmutableDueToPolicy"],
    ] as const) {
      putBlob(notes, "copy", "old", change);
      const { headers } = await ask("PUT", "/notes/copy", copying, "");
      expect(headers.get("x-ms-error-code")).toBe(code);
    }
  });
});

describe("what Azure does with blobs", () => {
  test("an upload replaces content, headers, metadata and tags together, under a new ETag", async () => {
    const { ask, notes } = await vendor();
    changeBlob(notes, "todo.txt", { tags: { a: "b" } });
    const old = notes.blobs.get("todo.txt")?.etag;
    const md5 = createHash("md5").update("new").digest("base64");
    const answer = await ask("PUT", blob, { ...block, "content-type": "text/x", "content-md5": md5 }, "new");
    expect([answer.status, answer.headers.get("content-md5"), answer.text]).toEqual([201, md5, ""]);
    expect(notes.blobs.get("todo.txt")).toMatchObject({ headers: { "content-type": "text/x" }, tags: {} });
    expect(notes.blobs.get("todo.txt")?.etag).not.toBe(old);
  });

  test("leases, holds and tags change no ETag, metadata does", async () => {
    const { notes } = await vendor();
    const etag = () => notes.blobs.get("todo.txt")?.etag;
    const first = etag();
    changeBlob(notes, "todo.txt", { leased: true, legalHold: true, tags: { a: "b" } });
    expect(etag()).toBe(first);
    changeBlob(notes, "todo.txt", { headers: { "x-ms-meta-a": "b" } });
    expect(etag()).not.toBe(first);
  });

  test("a deletion can be taken back where soft delete is on; snapshots are never deleted along unasked", async () => {
    const { ask, notes, world } = await vendor();
    changeBlob(notes, "todo.txt", { snapshots: 1 });
    expect((await ask("DELETE", blob)).headers.get("x-ms-error-code")).toBe("SnapshotsPresent");
    const { status, headers } = await ask("DELETE", blob, { "x-ms-delete-snapshots": "include" });
    expect([status, headers.get("x-ms-delete-type-permanent")]).toEqual([202, "false"]);
    world.softDelete = false;
    const gone = await ask("DELETE", "/notes/plan.txt");
    expect(gone.headers.get("x-ms-delete-type-permanent")).toBe("true");
  });

  test("a list has ETags without quotes, groups, and the marker of the next page", async () => {
    const { ask, notes } = await vendor();
    const list = "/notes?restype=container&comp=list";
    const { text } = await ask("GET", `${list}&delimiter=/&maxresults=3`);
    expect(text).toMatch(
      /^\ufeff?<\?xml version="1.0" encoding="utf-8"\?><EnumerationResults ServiceEndpoint="http/,
    );
    expect(text).toContain(`<Etag>${notes.blobs.get("plan.txt")?.etag.slice(1, -1)}</Etag>`);
    expect(text).toContain("<BlobPrefix><Name>dir/</Name></BlobPrefix>");
    const [, marker = ""] = /<NextMarker>([^<]+)</.exec(text) ?? [];
    const next = await ask("GET", `${list}&delimiter=/&marker=${encodeURIComponent(marker)}`);
    expect(next.text).toContain("<Name>todo.txt</Name>");
    expect(next.text).toContain("<NextMarker />");
    const other = await ask("GET", `${list}&marker=${encodeURIComponent(marker)}`);
    expect(other.status).toBe(400);
  });
});

test("a part of a blob is read by its range, in either header", async () => {
  const { ask } = await vendor();
  const part = await ask("GET", blob, { "x-ms-range": "bytes=1-2" });
  expect([part.status, part.text, part.headers.get("content-range")]).toEqual([206, "il", "bytes 1-2/5"]);
  expect(await ask("GET", blob, { range: "bytes=3-" })).toMatchObject({ status: 206, text: "k\n" });
  expect(await ask("GET", blob, { range: "bytes=0-99" })).toMatchObject({ status: 206, text: "milk\n" });
  const beyond = await ask("GET", blob, { "x-ms-range": "bytes=5-" });
  expect([beyond.status, beyond.headers.get("x-ms-error-code")]).toEqual([416, "InvalidRange"]);
});

test("a sandbox that runs already is found by its address, and may have more containers", async () => {
  const { backend, call, world } = await bench();
  expect(attach(backend.address)).toEqual(backend.options);
  addContainer(world, "empty");
  expect(await call("list_blobs", { container: "empty" })).toEqual({
    blobs: [],
    prefixes: [],
    next_cursor: null,
  });
});
