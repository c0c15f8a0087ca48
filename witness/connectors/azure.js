import assert from "node:assert/strict";
import { BlobServiceClient, RestError } from "@azure/storage-blob";
import { eachIsOne } from "../names.js";
import { certificate, software, witness } from "../support.js";

function clientFor({ options }, token = options.token) {
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
  return new BlobServiceClient(options.endpoint, credential, { retryOptions: { maxTries: 1 } });
}

const { does, raises, run } = await witness(
  "azure",
  software("@azure/storage-blob"),
  (backend) => clientFor(backend),
  // This client sends a token over TLS only.
  (sandbox) => sandbox({ tls: certificate() }),
);

const notes = ({ sdk }) => sdk.getContainerClient("notes");
const blob = (bench, name = "todo.txt") => notes(bench).getBlockBlobClient(name);
const odd = "dir/ü ñ+&=%20!*'();~.bin";
const bytesOf = (client) => client.downloadToBuffer();
const textOf = async (client) => (await bytesOf(client)).toString();

does("reads a blob, its type and its metadata", async (bench) => {
  const got = await blob(bench).download();
  assert.deepEqual(
    [got.contentType, got.cacheControl, got.contentLength, got.metadata],
    ["text/plain", "no-store", 5, { author: "ada" }],
  );
  assert.equal(await textOf(blob(bench)), "milk\n");
  const ours = await bench.call("get_blob", { container: "notes", blob: "todo.txt" });
  assert.deepEqual([ours.content, ours.etag], ["milk\n", got.etag]);
});

does("reads an odd name, and asks whether a blob is there", async (bench) => {
  assert.deepEqual([...(await bytesOf(blob(bench, odd)))], [0, 255, 254]);
  assert.equal(await blob(bench).exists(), true);
  assert.equal(await blob(bench, "none").exists(), false);
});

does("writes and reads the same blob under every generated name", async (bench) => {
  const { call } = bench;
  await eachIsOne({
    ours: {
      write: (name, content) => call("put_blob", { container: "notes", blob: name, content }),
      read: async (name) => (await call("get_blob", { container: "notes", blob: name })).content,
    },
    theirs: {
      write: (name, text) => blob(bench, name).upload(text, text.length),
      read: (name) => textOf(blob(bench, name)),
    },
    async list() {
      const found = [];
      for await (const { name } of notes(bench).listBlobsFlat({ prefix: "n/" })) found.push(name);
      return found;
    },
  });
});

does("asks for a blob's properties", async (bench) => {
  const { accessTier, blobType, leaseState } = await blob(bench, "public/index.html").getProperties();
  assert.deepEqual([accessTier, blobType, leaseState], ["Cool", "BlockBlob", "available"]);
});

does("uploads a blob and deletes it", async (bench) => {
  const client = blob(bench, "new/a b.txt");
  const put = await client.upload("hello", 5, {
    blobHTTPHeaders: { blobContentType: "text/markdown", blobCacheControl: "no-cache" },
    metadata: { by: "sdk" },
    tier: "Cool",
  });
  assert.equal(put._response.status, 201);
  const stored = bench.backend.container("notes").blobs.get("new/a b.txt");
  assert.deepEqual([stored.content.toString(), stored.etag, stored.tier], ["hello", put.etag, "Cool"]);
  const gone = await client.delete();
  assert.equal(gone._response.status, 202);
  assert.equal((await client.deleteIfExists()).succeeded, false);
});

does("writes only over what it read", async (bench) => {
  const { etag: ifMatch } = await blob(bench).getProperties();
  await blob(bench).upload("bread\n", 6, { conditions: { ifMatch } });
  assert.equal(await textOf(blob(bench)), "bread\n");
});

does("copies a blob at once, under the source's own credential", async (bench) => {
  const source = blob(bench);
  const sourceAuthorization = { scheme: "Bearer", value: bench.backend.options.token };
  const { copyStatus } = await blob(bench, "copy.txt").syncCopyFromURL(source.url, { sourceAuthorization });
  assert.equal(copyStatus, "success");
  assert.equal(await textOf(blob(bench, "copy.txt")), "milk\n");
});

does("lists blobs, page by page and in groups", async (bench) => {
  const pages = [];
  for await (const { segment } of notes(bench).listBlobsFlat().byPage({ maxPageSize: 3 })) {
    pages.push(segment.blobItems.map(({ name }) => name));
  }
  assert.deepEqual(pages, [[odd, "plan.txt", "public/index.html"], ["todo.txt"]]);
  const groups = [];
  for await (const item of notes(bench).listBlobsByHierarchy("/")) groups.push([item.kind, item.name]);
  assert.deepEqual(groups.sort(), [
    ["blob", "plan.txt"],
    ["blob", "todo.txt"],
    ["prefix", "dir/"],
    ["prefix", "public/"],
  ]);
});

does("sees what put_blob put, and what its undo put back", async (bench) => {
  const place = { container: "notes", blob: "todo.txt" };
  const { backup_key, sha256, etag } = await bench.call("put_blob", { ...place, content: "ours" });
  assert.deepEqual([await textOf(blob(bench)), (await blob(bench).getProperties()).etag], ["ours", etag]);
  await bench.call("restore_blob", { ...place, backup_key, expected_sha256: sha256, expected_etag: etag });
  const back = await blob(bench).getProperties();
  assert.deepEqual(
    [await textOf(blob(bench)), back.contentType, back.metadata],
    ["milk\n", "text/plain", { author: "ada" }],
  );
});

does("writes in between, which the undo does not overwrite", async (bench) => {
  const place = { container: "notes", blob: "todo.txt" };
  const { backup_key, sha256, etag } = await bench.call("put_blob", { ...place, content: "ours" });
  await blob(bench).upload("theirs", 6);
  const undo = { ...place, backup_key, expected_sha256: sha256, expected_etag: etag };
  await assert.rejects(bench.call("restore_blob", undo), { code: "CONFLICT" });
  assert.equal(await textOf(blob(bench)), "theirs");
});

const failure = (statusCode, code) => ({ class: RestError, name: "RestError", statusCode, code });
const read = (bench) => blob(bench).download();
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "RestError 404 BlobNotFound: no such blob",
  (bench) => blob(bench, "none").download(),
  failure(404, "BlobNotFound"),
);
raises(
  "RestError 404 ContainerNotFound: no such container",
  ({ sdk }) => sdk.getContainerClient("nowhere").listBlobsFlat().next(),
  failure(404, "ContainerNotFound"),
);
raises(
  "RestError 409 BlobAlreadyExists: a blob that must be new",
  (bench) => blob(bench).upload("x", 1, { conditions: { ifNoneMatch: "*" } }),
  failure(409, "BlobAlreadyExists"),
);
raises(
  "RestError 412 ConditionNotMet: an old ETag",
  (bench) => blob(bench).delete({ conditions: { ifMatch: '"0x0"' } }),
  failure(412, "ConditionNotMet"),
);
raises(
  "RestError 401 CannotVerifyCopySource: a copy without the source's credential",
  (bench) => blob(bench, "copy.txt").syncCopyFromURL(blob(bench).url),
  failure(401, "CannotVerifyCopySource"),
);
raises(
  "RestError 403 AuthorizationPermissionMismatch: a role that is missing",
  (bench) => {
    bench.backend.world.allowed.delete("blobs/read");
    return read(bench);
  },
  failure(403, "AuthorizationPermissionMismatch"),
);
raises(
  "RestError 401 InvalidAuthenticationInfo: a token that nobody knows",
  ({ backend }) => read({ sdk: clientFor(backend, "a.b.c") }),
  failure(401, "InvalidAuthenticationInfo"),
);
raises(
  "RestError 503 ServerBusy: too many requests",
  injected({ kind: "rateLimit" }),
  failure(503, "ServerBusy"),
);
raises("RestError 500: a breakdown", injected({ kind: "status", status: 500 }), {
  class: RestError,
  statusCode: 500,
});
raises("RestError REQUEST_SEND_ERROR: a connection that is cut", injected({ kind: "cutAfter" }), {
  class: RestError,
  code: /ECONNRESET|REQUEST_SEND_ERROR/,
});

run();
