import { request } from "node:http";
import { md5Base64 } from "../src/checksums.ts";
import { token } from "../src/sandbox/wire.ts";
import { bench } from "./bench.ts";

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
const authorization = `Bearer ${token}`;

/** Sends a request as anybody could, its path as it is. */
const send = (address: string, line: string, { headers = {}, body = "" }: Sent = {}) => {
  const [method, path] = line.split(" ");
  const { hostname, port } = new URL(address);
  const all = { authorization, "content-length": String(Buffer.byteLength(body)), ...headers };
  return new Promise<{ status: number; text: string; reason?: string }>((resolve, reject) => {
    const sending = request({ hostname, port, method, path, agent: false, headers: all }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const json = /json/.test(answer.headers["content-type"] ?? "") ? JSON.parse(text) : {};
        resolve({ status: answer.statusCode ?? 0, text, reason: json.error?.errors[0].reason });
      });
    });
    sending.on("error", reject).end(body);
  });
};

const insert = "POST /upload/storage/v1/b/notes/o?uploadType=multipart&name=a";
const related = { "content-type": "multipart/related; boundary=b" };
const parts = (description: object | string, content = "milk") =>
  [
    "--b\r\ncontent-type: application/json\r\n",
    typeof description === "string" ? description : JSON.stringify(description),
    "--b\r\ncontent-type: text/plain\r\n",
    content,
    "--b--",
  ].join("\r\n");
const json = { "content-type": "application/json" };
const copy = "POST /storage/v1/b/notes/o/todo.txt/rewriteTo/b/notes/o/copy";

test.each<[string, string, number, string | undefined, Sent?]>([
  ["a name whose slash is not encoded", "GET /storage/v1/b/notes/o/public/index.html", 404, "notFound"],
  [
    "a generation that is no number",
    "GET /storage/v1/b/notes/o/todo.txt?generation=x",
    400,
    "invalidParameter",
  ],
  ["a condition that is no number", `${copy}?ifGenerationMatch=-1`, 400, "invalidParameter"],
  ["a condition that does not hold", `${copy}?ifSourceGenerationMatch=1`, 412, "conditionNotMet"],
  [
    "a delete of what is not there, whatever its condition",
    "DELETE /storage/v1/b/notes/o/x?ifGenerationMatch=1",
    404,
    "notFound",
  ],
  [
    "a delete of one generation, for good",
    "DELETE /storage/v1/b/notes/o/todo.txt?generation=1",
    400,
    "invalidParameter",
  ],
  ["a bucket that is not there", "GET /storage/v1/b/nowhere/o", 404, "notFound"],
  [
    "an upload of another type",
    "POST /upload/storage/v1/b/notes/o?uploadType=media&name=a",
    400,
    "invalid",
    { body: "milk" },
  ],
  [
    "an upload without a boundary",
    insert,
    400,
    "badContent",
    { headers: { "content-type": "multipart/related" } },
  ],
  ["an upload without an end", insert, 400, "badContent", { headers: related, body: parts({}).slice(0, -2) }],
  ["a description that is no JSON", insert, 400, "parseError", { headers: related, body: parts("{") }],
  [
    "a field that Google does not have",
    insert,
    400,
    "invalid",
    { headers: related, body: parts({ extra: "1" }) },
  ],
  [
    "a generation of one's own",
    insert,
    400,
    "invalid",
    { headers: related, body: parts({ generation: "1" }) },
  ],
  [
    "metadata that is no text",
    insert,
    400,
    "invalid",
    { headers: related, body: parts({ metadata: { a: 1 } }) },
  ],
  [
    "an MD5 of something else",
    insert,
    400,
    "invalid",
    { headers: related, body: parts({ md5Hash: md5Base64(Buffer.from("tea")) }) },
  ],
  [
    "a CRC-32C of something else",
    insert,
    400,
    "invalid",
    { headers: related, body: parts({ crc32c: "AAAAAA==" }) },
  ],
  [
    "an upload without a name",
    insert.replace("&name=a", ""),
    400,
    "invalid",
    { headers: related, body: parts({}) },
  ],
  ["a copy with a form", copy, 400, "parseError", { headers: { "content-type": "text/plain" }, body: "{}" }],
  [
    "a storage class that Google does not have",
    copy,
    400,
    "invalid",
    { headers: json, body: '{"storageClass":"HOT"}' },
  ],
  ["a copy with somebody's token", `${copy}?rewriteToken=x`, 400, "invalid"],
  ["a copy of what is not there", copy.replace("todo", "x"), 404, "notFound"],
  ["a page without end", "GET /storage/v1/b/notes/o?maxResults=0", 400, "invalid"],
  ["a token of another list", "GET /storage/v1/b/notes/o?pageToken=x", 400, "invalid"],
  ["fields that are not there", "GET /storage/v1/b/notes/o?fields=all", 400, "invalidParameter"],
])("the sandbox refuses %s", async (...[, line, status, reason, sent]) => {
  const on = await bench();
  const before = await on.backend.state();
  expect(await send(on.backend.address, line, sent)).toMatchObject({ status, reason });
  expect(await on.backend.state()).toEqual(before);
});

test("a download that fails is answered with plain text", async () => {
  const { backend } = await bench();
  expect(await send(backend.address, "GET /storage/v1/b/notes/o/x?alt=media")).toEqual({
    ...{ status: 404, text: "No such object: notes/x", reason: undefined },
  });
});

test("without a body a copy keeps the metadata, and takes the bucket's class; with one it takes what that says", async () => {
  const on = await bench();
  const to = (name: string) => `POST /storage/v1/b/notes/o/public%2Findex.html/rewriteTo/b/notes/o/${name}`;
  const bare = await send(on.backend.address, to("bare"));
  expect(JSON.parse(bare.text)).toMatchObject({ done: true, totalBytesRewritten: "12", objectSize: "12" });
  await send(on.backend.address, to("told"), { headers: json, body: '{"contentType":"text/x"}' });
  await send(on.backend.address, to("empty"), { headers: json, body: "{}" });
  const [source, a, b, c] = ["public/index.html", "bare", "told", "empty"].map((name) =>
    on.notes.objects.get(name),
  );
  expect(a).toMatchObject({ attributes: source?.attributes, storageClass: "STANDARD" });
  expect(c).toMatchObject({ attributes: source?.attributes });
  expect(b).toMatchObject({ attributes: { contentType: "text/x" }, content: source?.content });
});

test("a rewrite token is good for its own request only", async () => {
  const { backend } = await bench();
  const film = "POST /storage/v1/b/notes/o/film.bin/rewriteTo/b/notes/o/copy";
  const { rewriteToken } = JSON.parse((await send(backend.address, film)).text);
  const query = `rewriteToken=${encodeURIComponent(rewriteToken)}`;
  expect(await send(backend.address, `${film}2?${query}`)).toMatchObject({ status: 400 });
  expect(await send(backend.address, `${film}?${query}&ifGenerationMatch=0`)).toMatchObject({ status: 400 });
  expect(JSON.parse((await send(backend.address, `${film}?${query}`)).text)).toMatchObject({
    ...{ done: false, totalBytesRewritten: "131072" },
  });
});
