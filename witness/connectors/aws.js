import assert from "node:assert/strict";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchBucket,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { eachIsOne } from "../names.js";
import { software, witness } from "../support.js";

const clientFor = ({ address, options }, more = {}) => {
  const { accessKeyId, secretAccessKey, sessionToken, region } = options;
  return new S3Client({
    endpoint: address,
    forcePathStyle: true,
    region,
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    maxAttempts: 1,
    ...more,
  });
};

const { does, raises, run } = await witness("aws", software("@aws-sdk/client-s3"), (backend, later) => {
  const sdk = clientFor(backend);
  later(() => sdk.destroy());
  return sdk;
});

const Bucket = "notes";
const todo = { Bucket, Key: "todo.txt" };
const odd = { Bucket, Key: "dir/ü ñ+&=%20!*'();~.bin" };
const textOf = async ({ Body }) => Body.transformToString();

does("reads an object, its type and its metadata", async ({ sdk, call }) => {
  const got = await sdk.send(new GetObjectCommand(todo));
  assert.deepEqual(
    [await textOf(got), got.ContentType, got.CacheControl, got.Metadata],
    ["milk\n", "text/plain", "no-store", { author: "ada" }],
  );
  const ours = await call("get_object", { bucket: Bucket, key: todo.Key });
  assert.deepEqual([ours.content, ours.etag], ["milk\n", got.ETag]);
});

does("asks for an object's headers only", async ({ sdk }) => {
  const head = await sdk.send(new HeadObjectCommand(todo));
  assert.deepEqual([head.ContentLength, head.$metadata.httpStatusCode], [5, 200]);
});

does("writes and reads the same object under every generated key", async ({ sdk, call }) => {
  await eachIsOne({
    ours: {
      write: (key, content) => call("put_object", { bucket: Bucket, key, content }),
      read: async (key) => (await call("get_object", { bucket: Bucket, key })).content,
    },
    theirs: {
      write: (Key, Body) => sdk.send(new PutObjectCommand({ Bucket, Key, Body })),
      read: async (Key) => textOf(await sdk.send(new GetObjectCommand({ Bucket, Key }))),
    },
    async list() {
      const found = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client: sdk }, { Bucket, Prefix: "n/" }))
        found.push(...Contents.map(({ Key }) => Key));
      return found;
    },
  });
});

does("signs an odd key", async ({ sdk }) => {
  const got = await sdk.send(new GetObjectCommand(odd));
  assert.deepEqual([...(await got.Body.transformToByteArray())], [0, 255, 254]);
  const put = { ...odd, Key: `${odd.Key}/ again`, Body: "x" };
  await sdk.send(new PutObjectCommand(put));
  assert.equal(await textOf(await sdk.send(new GetObjectCommand({ Bucket, Key: put.Key }))), "x");
});

does("puts an object and deletes it, twice", async ({ sdk, backend }) => {
  const Key = "new/a b.txt";
  const put = await sdk.send(
    new PutObjectCommand({
      Bucket,
      Key,
      Body: "hello",
      ContentType: "text/markdown",
      Metadata: { by: "sdk" },
    }),
  );
  assert.match(put.ETag, /^"[0-9a-f]{32}"$/);
  assert.equal(backend.bucket(Bucket).objects.get(Key).at(-1).content.toString(), "hello");
  for (const _ of [1, 2]) {
    const gone = await sdk.send(new DeleteObjectCommand({ Bucket, Key }));
    assert.equal(gone.$metadata.httpStatusCode, 204);
  }
});

does("writes only what is new, and only over what it read", async ({ sdk }) => {
  await assert.rejects(sdk.send(new PutObjectCommand({ ...todo, Body: "x", IfNoneMatch: "*" })), {
    name: "PreconditionFailed",
  });
  const { ETag } = await sdk.send(new HeadObjectCommand(todo));
  await sdk.send(new PutObjectCommand({ ...todo, Body: "bread\n", IfMatch: ETag }));
  assert.equal(await textOf(await sdk.send(new GetObjectCommand(todo))), "bread\n");
});

does("copies an object", async ({ sdk }) => {
  const CopySource = `${Bucket}/${todo.Key}`;
  const { CopyObjectResult } = await sdk.send(new CopyObjectCommand({ Bucket, Key: "copy.txt", CopySource }));
  const { ETag } = await sdk.send(new HeadObjectCommand(todo));
  assert.equal(CopyObjectResult.ETag, ETag);
});

does("lists objects page by page, and in groups", async ({ sdk }) => {
  const seen = [];
  for await (const page of paginateListObjectsV2({ client: sdk, pageSize: 2 }, { Bucket })) {
    seen.push(...page.Contents.map(({ Key }) => Key));
  }
  assert.deepEqual(seen, [odd.Key, "public/index.html", "todo.txt"]);
  const { CommonPrefixes, Contents } = await sdk.send(new ListObjectsV2Command({ Bucket, Delimiter: "/" }));
  assert.deepEqual(
    [CommonPrefixes.map(({ Prefix }) => Prefix), Contents.map(({ Key }) => Key)],
    [["dir/", "public/"], ["todo.txt"]],
  );
});

does("reads a version, and is told a delete marker", async ({ sdk }) => {
  const plan = { Bucket: "versioned.notes", Key: "plan.txt" };
  const { VersionId } = await sdk.send(new HeadObjectCommand(plan));
  const gone = await sdk.send(new DeleteObjectCommand(plan));
  assert.equal(gone.DeleteMarker, true);
  assert.equal(await textOf(await sdk.send(new GetObjectCommand({ ...plan, VersionId }))), "second");
});

does("asks whether a bucket is there", async ({ sdk }) => {
  const { $metadata } = await sdk.send(new HeadBucketCommand({ Bucket }));
  assert.equal($metadata.httpStatusCode, 200);
});

does("sees what put_object put, and what its undo put back", async ({ sdk, call }) => {
  const place = { bucket: Bucket, key: todo.Key };
  const { backup_key, sha256, etag } = await call("put_object", { ...place, content: "ours" });
  const got = await sdk.send(new GetObjectCommand(todo));
  assert.deepEqual([await textOf(got), got.ETag], ["ours", etag]);
  await call("restore_object", { ...place, backup_key, expected_sha256: sha256, expected_etag: etag });
  const back = await sdk.send(new GetObjectCommand(todo));
  assert.deepEqual(
    [await textOf(back), back.ContentType, back.Metadata],
    ["milk\n", "text/plain", { author: "ada" }],
  );
});

does("writes in between, which the undo does not overwrite", async ({ sdk, call }) => {
  const place = { bucket: Bucket, key: todo.Key };
  const { backup_key, sha256, etag } = await call("put_object", { ...place, content: "ours" });
  await sdk.send(new PutObjectCommand({ ...todo, Body: "theirs" }));
  const undo = { ...place, backup_key, expected_sha256: sha256, expected_etag: etag };
  await assert.rejects(call("restore_object", undo), { code: "CONFLICT" });
  assert.equal(await textOf(await sdk.send(new GetObjectCommand(todo))), "theirs");
});

const failure = (Class, name, status) => ({
  class: Class,
  name,
  $metadata: ({ httpStatusCode, requestId }) => httpStatusCode === status && requestId !== undefined,
});
const read = ({ sdk }) => sdk.send(new GetObjectCommand(todo));
const injected = (fault) => (bench) => {
  bench.backend.inject(fault);
  return read(bench);
};

raises(
  "NoSuchKey 404: no such object",
  ({ sdk }) => sdk.send(new GetObjectCommand({ Bucket, Key: "none" })),
  failure(NoSuchKey, "NoSuchKey", 404),
);
raises(
  "NotFound 404: the headers of no object",
  ({ sdk }) => sdk.send(new HeadObjectCommand({ Bucket, Key: "none" })),
  failure(NotFound, "NotFound", 404),
);
raises(
  "NoSuchBucket 404: no such bucket",
  ({ sdk }) => sdk.send(new ListObjectsV2Command({ Bucket: "nowhere" })),
  failure(NoSuchBucket, "NoSuchBucket", 404),
);
raises(
  "PreconditionFailed 412: an old ETag",
  ({ sdk }) => sdk.send(new PutObjectCommand({ ...todo, Body: "x", IfMatch: '"0"' })),
  failure(S3ServiceException, "PreconditionFailed", 412),
);
raises(
  "PermanentRedirect 301: a bucket of another region",
  ({ sdk }) => sdk.send(new ListObjectsV2Command({ Bucket: "far-away" })),
  failure(S3ServiceException, "PermanentRedirect", 301),
);
raises(
  "AccessDenied 403: an action that is not allowed",
  (bench) => {
    bench.backend.world.allowed.delete("s3:GetObject");
    return read(bench);
  },
  failure(S3ServiceException, "AccessDenied", 403),
);
raises(
  "SignatureDoesNotMatch 403: a wrong secret",
  ({ backend, later }) => {
    const sdk = clientFor({ ...backend, options: { ...backend.options, secretAccessKey: "x".repeat(40) } });
    later(() => sdk.destroy());
    return read({ sdk });
  },
  failure(S3ServiceException, "SignatureDoesNotMatch", 403),
);
raises(
  "InvalidAccessKeyId 403: a key that nobody knows",
  ({ backend, later }) => {
    const sdk = clientFor({
      ...backend,
      options: { ...backend.options, accessKeyId: "AKIANOBODY0000000000" },
    });
    later(() => sdk.destroy());
    return read({ sdk });
  },
  failure(S3ServiceException, "InvalidAccessKeyId", 403),
);
raises(
  "ExpiredToken 400: a token that has expired",
  (bench) => {
    bench.backend.world.token = "expired";
    return read(bench);
  },
  failure(S3ServiceException, "ExpiredToken", 400),
);
raises(
  "SlowDown 503: too many requests",
  injected({ kind: "rateLimit" }),
  failure(S3ServiceException, "SlowDown", 503),
);
raises("InternalError 500: a breakdown", injected({ kind: "status", status: 500 }), {
  class: S3ServiceException,
  name: "InternalError",
});
raises("TimeoutError or ECONNRESET: a connection that is cut", injected({ kind: "cutAfter" }), {
  code: "ECONNRESET",
});

run();
