import assert from "node:assert/strict";
import { ApiError, Storage } from "@google-cloud/storage";
import { OAuth2Client } from "google-auth-library";
import { eachIsOne } from "../names.js";
import { software, witness } from "../support.js";

function clientFor({ address, options }, token = options.token) {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: token });
  return new Storage({
    apiEndpoint: address,
    useAuthWithCustomEndpoint: true,
    authClient,
    projectId: "sandbox",
    retryOptions: { autoRetry: false },
  });
}

const { does, raises, run } = await witness("gcp", software("@google-cloud/storage"), (backend) =>
  clientFor(backend),
);

const todo = ({ sdk }, options) => sdk.bucket("notes").file("todo.txt", options);
const odd = "dir/ü ñ+&=%20!*'();~.bin";
const textOf = async (file) => (await file.download())[0].toString();

does("reads an object, its checksum and its metadata", async ({ sdk, call }) => {
  const file = todo({ sdk });
  assert.equal(await textOf(file), "milk\n");
  const [metadata] = await file.getMetadata();
  assert.deepEqual(
    [metadata.contentType, metadata.cacheControl, metadata.metadata, Number(metadata.size)],
    ["text/plain", "no-store", { Author: "ada" }, 5],
  );
  const ours = await call("get_object", { bucket: "notes", object: "todo.txt" });
  assert.deepEqual([ours.content, ours.generation], ["milk\n", metadata.generation]);
});

does("reads an odd name", async ({ sdk }) => {
  const [content] = await sdk.bucket("notes").file(odd).download();
  assert.deepEqual([...content], [0, 255, 254]);
});

does("writes and reads the same object under every generated name", async ({ sdk, call }) => {
  const bucket = sdk.bucket("notes");
  await eachIsOne({
    ours: {
      write: (object, content) => call("put_object", { bucket: "notes", object, content }),
      read: async (object) => (await call("get_object", { bucket: "notes", object })).content,
    },
    theirs: {
      write: (name, text) => bucket.file(name).save(text, { resumable: false }),
      read: (name) => textOf(bucket.file(name)),
    },
    list: async () => (await bucket.getFiles({ prefix: "n/" }))[0].map(({ name }) => name),
  });
});

does("asks whether an object is there", async ({ sdk }) => {
  assert.deepEqual(await todo({ sdk }).exists(), [true]);
  assert.deepEqual(await sdk.bucket("notes").file("none").exists(), [false]);
});

does("saves an object in one request, and deletes it", async ({ sdk, backend }) => {
  const file = sdk.bucket("notes").file("new/a b.txt");
  await file.save("hello", {
    resumable: false,
    contentType: "text/markdown",
    metadata: { metadata: { by: "sdk" } },
  });
  const stored = backend.bucket("notes").objects.get("new/a b.txt");
  assert.deepEqual(
    [stored.content.toString(), stored.attributes],
    ["hello", { contentType: "text/markdown", metadata: { by: "sdk" } }],
  );
  const [response] = await file.delete();
  assert.equal(response.statusCode, 204);
  assert.deepEqual(await file.exists(), [false]);
});

does("writes only what is new, and only over the generation that it read", async ({ sdk }) => {
  const file = todo({ sdk });
  const save = (ifGenerationMatch) =>
    file.save("bread\n", { resumable: false, preconditionOpts: { ifGenerationMatch } });
  await assert.rejects(save(0), { code: 412 });
  const [{ generation }] = await file.getMetadata();
  await save(generation);
  assert.equal(await textOf(todo({ sdk })), "bread\n");
});

does("copies an object", async ({ sdk }) => {
  const [copy] = await todo({ sdk }).copy(sdk.bucket("notes").file("copy.txt"));
  assert.equal(await textOf(copy), "milk\n");
  const [{ contentType, metadata }] = await copy.getMetadata();
  assert.deepEqual([contentType, metadata], ["text/plain", { Author: "ada" }]);
});

does("lists objects, page by page and in groups", async ({ sdk }) => {
  const [all] = await sdk.bucket("notes").getFiles();
  const names = all.map(({ name }) => name);
  assert.deepEqual(names, ["composed.txt", odd, "film.bin", "public/index.html", "todo.txt"]);
  const seen = [];
  let query = { maxResults: 2, autoPaginate: false };
  while (query) {
    const [files, next] = await sdk.bucket("notes").getFiles(query);
    seen.push(...files.map(({ name }) => name));
    query = next;
  }
  assert.deepEqual(seen, names);
  const [, , { prefixes }] = await sdk.bucket("notes").getFiles({ delimiter: "/", autoPaginate: false });
  assert.deepEqual(prefixes, ["dir/", "public/"]);
});

does("reads an old generation", async ({ sdk, backend }) => {
  const [old] = backend.bucket("versioned.notes").noncurrent;
  const file = sdk.bucket("versioned.notes").file("plan.txt", { generation: old.object.generation });
  assert.equal(await textOf(file), "first");
});

does("sees what put_object put, and what its undo put back", async ({ sdk, call }) => {
  const place = { bucket: "notes", object: "todo.txt" };
  const { backup_key, sha256, generation } = await call("put_object", { ...place, content: "ours" });
  const [metadata] = await todo({ sdk }).getMetadata();
  assert.deepEqual([await textOf(todo({ sdk })), metadata.generation], ["ours", generation]);
  await call("restore_object", {
    ...place,
    backup_key,
    expected_sha256: sha256,
    expected_generation: generation,
  });
  const [back] = await todo({ sdk }).getMetadata();
  assert.deepEqual(
    [await textOf(todo({ sdk })), back.contentType, back.metadata],
    ["milk\n", "text/plain", { Author: "ada" }],
  );
});

does("writes in between, which the undo does not overwrite", async ({ sdk, call }) => {
  const place = { bucket: "notes", object: "todo.txt" };
  const { backup_key, sha256, generation } = await call("put_object", { ...place, content: "ours" });
  await todo({ sdk }).save("theirs", { resumable: false });
  const undo = { ...place, backup_key, expected_sha256: sha256, expected_generation: generation };
  await assert.rejects(call("restore_object", undo), { code: "CONFLICT" });
  assert.equal(await textOf(todo({ sdk })), "theirs");
});

const failure = (code, reason) => ({
  class: ApiError,
  code,
  errors: ([first]) => {
    assert.equal(first.reason, reason);
    return true;
  },
});
const read = (bench) => todo(bench).getMetadata();
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "ApiError 404 notFound: no such object",
  ({ sdk }) => sdk.bucket("notes").file("none").getMetadata(),
  failure(404, "notFound"),
);
raises(
  "ApiError 404 notFound: no such bucket",
  ({ sdk }) => sdk.bucket("nowhere").getFiles(),
  failure(404, "notFound"),
);
raises("ApiError 404: the content of no object", ({ sdk }) => sdk.bucket("notes").file("none").download(), {
  class: ApiError,
  code: 404,
  message: /^No such object/,
});
raises(
  "ApiError 412 conditionNotMet: an old generation",
  (bench) => todo(bench).delete({ ifGenerationMatch: 1 }),
  failure(412, "conditionNotMet"),
);
raises(
  "ApiError 403 forbidden: a permission that is missing",
  (bench) => {
    bench.backend.world.allowed.delete("storage.objects.get");
    return read(bench);
  },
  failure(403, "forbidden"),
);
raises(
  "ApiError 401 authError: a token that nobody knows",
  ({ backend }) => read({ sdk: clientFor(backend, "ya29.nobody") }),
  failure(401, "authError"),
);
raises(
  "ApiError 429 rateLimitExceeded: an object that is changed too often",
  (bench) => {
    bench.backend.world.busy.set("todo.txt", 1);
    return todo(bench).delete();
  },
  failure(429, "rateLimitExceeded"),
);
raises(
  "ApiError 429 rateLimitExceeded: too many requests",
  injected({ kind: "rateLimit", retryAfter: 30 }),
  failure(429, "rateLimitExceeded"),
);
raises(
  "ApiError 500 backendError: a breakdown",
  injected({ kind: "status", status: 500 }),
  failure(500, "backendError"),
);
raises("FetchError ECONNRESET: a connection that is cut", injected({ kind: "cutAfter" }), {
  code: "ECONNRESET",
});

run();
