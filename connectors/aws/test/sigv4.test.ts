import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Sha256 } from "@aws-crypto/sha256-js";
import { sha256Hex } from "@reversi-connector/core";
import { SignatureV4 } from "@smithy/signature-v4";
import { dataAt, testOn } from "../../../test/contracts.ts";
import { encodeKey } from "../src/names.ts";
import { amzDate, authorization, canonicalRequest, signature, stringToSign } from "../src/sigv4.ts";

const folder = dataAt("sigv4");
const vectors = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8")) as never;
const withVectors = testOn(folder);

const example = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const s3 = { region: "us-east-1", service: "s3" };
const empty = sha256Hex("");
const host = "examplebucket.s3.amazonaws.com";
const at = { host, "x-amz-date": "20130524T000000Z" };

// The worked examples of Amazon's documentation.
test.each([
  {
    name: "a list",
    method: "GET",
    path: "/?max-keys=2&prefix=J",
    headers: { ...at, "x-amz-content-sha256": empty },
    payloadHash: empty,
    expected: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
  {
    name: "a parameter without a value",
    method: "GET",
    path: "/?lifecycle",
    headers: { ...at, "x-amz-content-sha256": empty },
    payloadHash: empty,
    expected: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  {
    name: "a body",
    method: "PUT",
    path: "/test%24file.text",
    headers: {
      ...at,
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    payloadHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    expected: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
])("Amazon's worked example with $name has Amazon's signature", ({ expected, ...request }) => {
  expect(signature(request, example.secretAccessKey, s3)).toBe(expected);
});

interface S3Vector {
  readonly name: string;
  readonly credentials: Readonly<Record<"access_key_id" | "secret_access_key", string>>;
  readonly region: string;
  readonly service: string;
  readonly method: string;
  readonly decoded_path: string;
  readonly wire_path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Record<string, string>;
  readonly payload_sha256: string;
  readonly canonical_request: string;
  readonly string_to_sign: string;
  readonly signature: string;
  readonly authorization: string;
}
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

withVectors("every vector for S3 is reproduced, down to the canonical request", () => {
  const all = vectors("s3-vectors.json") as S3Vector[];
  expect(all.length).toBeGreaterThanOrEqual(14);
  for (const vector of all) {
    const { name, credentials, method, wire_path, query, headers, region, service } = vector;
    const search = query.map(([key, value]) => `${encoded(key)}=${encoded(value)}`).join("&");
    const request = {
      ...{ method, headers },
      path: search === "" ? wire_path : `${wire_path}?${search}`,
      payloadHash: vector.payload_sha256,
    };
    const keys = { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key };
    const scope = { region, service };
    expect([name, canonicalRequest(request)]).toEqual([name, vector.canonical_request]);
    expect([name, stringToSign(request, scope)]).toEqual([name, vector.string_to_sign]);
    expect([name, authorization(request, keys, scope)]).toEqual([name, vector.authorization]);
    const dots = /(^|\/)\.{1,2}(\/|$)/.test(vector.decoded_path);
    if (!dots) expect([name, `/${encodeKey(vector.decoded_path.slice(1))}`]).toEqual([name, wire_path]);
  }
});

interface SuiteCase {
  readonly name: string;
  readonly context: {
    readonly credentials: Readonly<Record<string, string>>;
    readonly omit_session_token?: boolean;
    readonly sign_body: boolean;
    readonly region: string;
    readonly service: string;
    readonly timestamp: string;
  };
  readonly request: string;
  readonly header_canonical_request: string;
  readonly header_signature: string;
}

/** A request of AWS's own suite, as it would go on the wire. */
function parsed({ request, context }: SuiteCase) {
  const [head = "", ...bodies] = request.split("\n\n");
  const [line = "", ...lines] = head.trimEnd().split("\n");
  const [, method = "", target = ""] = /^(\S+) (.*) HTTP\/1\.1$/.exec(line) ?? [];
  const headers: Record<string, string> = {};
  for (const text of lines.join("\n").replace(/\n\s+/g, " ").split("\n")) {
    const [name = "", ...value] = text.split(":");
    const known = headers[name.toLowerCase()];
    const own = value.join(":").trim();
    headers[name.toLowerCase()] = known === undefined ? own : `${known},${own}`;
  }
  const body = bodies.join("\n\n");
  const { token } = context.credentials;
  headers["x-amz-date"] = context.timestamp.replace(/[-:]/g, "");
  if (token && !context.omit_session_token) headers["x-amz-security-token"] = token;
  if (context.sign_body) headers["x-amz-content-sha256"] = sha256Hex(body);
  const recode = (text: string) => encoded(decodeURIComponent(text));
  const [pathname = "", search] = target.split("?");
  const query = search?.split("&").map((pair) => pair.split("=").map(recode).join("="));
  const path = pathname.split("/").map(recode).join("/") + (query ? `?${query.join("&")}` : "");
  return { method, path, headers, payloadHash: sha256Hex(body) };
}

/** S3 never normalises a path. */
const notForS3 = /^get-(relative(-relative)?|slash(es|-dot-slash|-pointless-dot)?)-normalized$/;

withVectors("every case of AWS's suite that applies to S3 is reproduced", () => {
  const applicable = (vectors("aws-c-auth-v4.json") as SuiteCase[]).filter(
    ({ name }) => !notForS3.test(name),
  );
  expect(applicable).toHaveLength(32);
  for (const each of applicable) {
    const { credentials, region, service } = each.context;
    const request = parsed(each);
    expect([each.name, canonicalRequest(request)]).toEqual([each.name, each.header_canonical_request]);
    const made = signature(request, credentials["secret_access_key"] ?? "", { region, service });
    expect([each.name, made]).toEqual([each.name, each.header_signature]);
  }
});

/** The same numbers in every run. */
function random(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
const letters = [..."abzAZ09-_.~ !'()*+%/&=?#@:;,$[]{}|\\^`\"<>\t\n\u0001\u007füéß日本語😀🏳️‍🌈"];

test("thousands of generated requests are signed as Amazon's own signer signs them", async () => {
  const next = random(20_261_130);
  const text = (longest: number) =>
    Array.from({ length: next(longest) }, () => letters[next(letters.length)]).join("");
  for (let round = 0; round < 3_000; round++) {
    const credentials = {
      ...example,
      ...(next(2) === 0 && { sessionToken: `token+/=${text(5).replace(/\W/g, "")}` }),
    };
    const signer = new SignatureV4({
      ...{ credentials, region: "eu-central-1", service: "s3", sha256: Sha256 },
      uriEscapePath: false,
      applyChecksum: false,
    });
    const signingDate = new Date(Date.UTC(2026, next(12), 1 + next(28), next(24), next(60), next(60)));
    const key = text(40)
      .split("/")
      .map((part) => (/^\.{1,2}$/.test(part) ? "x" : part))
      .join("/")
      .toWellFormed();
    const query = Object.fromEntries(
      Array.from({ length: next(5) }, (_, index) => [`${text(4)}${index}`, text(12)]),
    );
    const payloadHash = next(4) === 0 ? "UNSIGNED-PAYLOAD" : sha256Hex(text(20));
    const headers: Record<string, string> = {
      host: next(2) === 0 ? "b.s3.eu-central-1.amazonaws.com" : "127.0.0.1:9000",
      "x-amz-content-sha256": payloadHash,
      ...(next(2) === 0 && { "content-type": `text/plain;  a=${text(6).replace(/[^ -~]/g, "")}` }),
      ...(next(2) === 0 && { "x-amz-copy-source": `/bucket/${encodeKey(`k${key}`)}` }),
      ...(next(2) === 0 && { "if-match": `"${next(1000)}"` }),
    };
    const path = `/${encodeKey(key)}`;
    const request = { method: "PUT", protocol: "https:", hostname: "unused", path, query, headers };
    const theirs = await signer.sign(request, { signingDate });
    const search = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
    const ours = authorization(
      {
        ...{ method: "PUT", payloadHash },
        path: search.length === 0 ? path : `${path}?${search.join("&")}`,
        headers: {
          ...headers,
          "x-amz-date": amzDate(signingDate),
          ...(credentials.sessionToken && { "x-amz-security-token": credentials.sessionToken }),
        },
      },
      credentials,
      { region: "eu-central-1", service: "s3" },
    );
    if (ours !== theirs.headers["authorization"]) {
      expect({ round, path, query, headers, ours }).toEqual({
        round,
        path,
        query,
        headers,
        ours: theirs.headers["authorization"],
      });
    }
  }
});
