import { EffectUncertainError } from "@reversi-connector/core";
import { bench, failure, fresh, keeping, todo } from "./bench.ts";

const copyOnly = { method: "PUT", path: /reversi-backups/ };
const restoreOnly = { method: "PUT", path: /todo\.txt$/ };
const key = "a-key-of-the-engine-0123456789";

const errorXml = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>We encountered an internal error</Message></Error>`;
const result = (inner: string) => `<CopyObjectResult>${inner}</CopyObjectResult>`;

/** What a copy may answer with status 200 without having made a copy. */
const lies: readonly (readonly [string, string])[] = [
  ["an error", errorXml("InternalError")],
  ["an error after blanks", ` \n\n  ${errorXml("SlowDown")}`],
  ["nothing", ""],
  ["blanks", "   \n"],
  ["half a result", `<?xml version="1.0"?><CopyObjectResult><ETag>&quot;0`],
  ["a result without ETag", result("<LastModified>2026-11-30T10:11:12.000Z</LastModified>")],
  ["a web page", "<!doctype html><p>It works!</p>"],
];

describe.each(lies)("S3-06: a copy that answers 200 with %s", (_, body) => {
  test.each(["put_object", "delete_object"])("stops %s before anything is overwritten", async (tool) => {
    const on = await bench();
    await on.call("delete_object", { bucket: "notes", key: "public/index.html" });
    await on.call("put_object", { ...fresh, content: "x" }); // the server's guards are known from here on
    on.backend.forget();
    on.backend.inject({ kind: "status", status: 200, body }, copyOnly);
    const more = tool === "put_object" ? { content: "bread" } : {};
    const error = await failure(on.call(tool, { ...todo, ...more }));
    expect(error.message).toMatch(/HTTP 200|backup/);
    expect(["FAILED", "EFFECT_UNCERTAIN"]).toContain(error.code);
    expect(on.text(todo)).toBe("milk\n");
    expect(on.writes().map(({ path }) => path)).toEqual([expect.stringContaining("reversi-backups")]);
  });

  test("is no success of an undo, and the next undo completes", async () => {
    const on = await bench();
    const put = await on.call("put_object", { ...todo, content: "bread" });
    on.backend.inject({ kind: "status", status: 200, body }, restoreOnly);
    const error = await failure(on.undo("put_object", todo, put));
    expect(["FAILED", "EFFECT_UNCERTAIN"]).toContain(error.code);
    expect(await on.holds(on.undoOf("put_object", todo, put))).toBe(false);
    await on.undo("put_object", todo, put);
    expect(on.text(todo)).toBe("milk\n");
  });
});

test("S3-06: an error inside a 200 is definite, and named", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "bread" });
  on.backend.inject({ kind: "status", status: 200, body: errorXml("InternalError") }, restoreOnly);
  expect(await failure(on.undo("put_object", todo, put))).toMatchObject({
    ...{ code: "FAILED", status: 200, reason: "InternalError", mayHaveApplied: false },
    message: "HTTP 200: copy to todo.txt: S3 failed inside (InternalError)",
  });
});

test("S3-06: a backup that is not what was read stops the write", async () => {
  const on = await bench();
  on.backend.inject(
    { kind: "status", status: 200, body: result("<ETag>&quot;x&quot;</ETag>") },
    { ...copyOnly, skip: 2 },
  );
  const error = await failure(on.call("put_object", { ...todo, content: "bread" }));
  expect(error.message).toMatch(/the backup .* is not what todo\.txt is; todo\.txt was not touched/);
  expect(on.text(todo)).toBe("milk\n");
});

test.each(["get_object", "put_object", "delete_object"])(
  "S3-10: a bucket of another region is an error of %s that names the region; nothing is followed or written",
  async (tool) => {
    const on = await bench();
    const more = tool === "put_object" ? { content: "x" } : {};
    const error = await failure(on.call(tool, { bucket: "far-away", key: "a", ...more }));
    expect(error).toMatchObject({ status: 301, reason: "PermanentRedirect" });
    expect(error.message).toMatch(/the bucket is in the region eu-west-1: set the region to it/);
    expect(on.backend.requests).toHaveLength(1);
  },
);

test("S3-10: the wrong region in the signature, and a redirect to another host, are told and not followed", async () => {
  const on = await bench({ region: "us-east-1" });
  const wrong = await failure(on.call("get_object", todo));
  expect(wrong).toMatchObject({ status: 400, reason: "AuthorizationHeaderMalformed" });
  expect(wrong.message).toMatch(/the bucket is in another region: set the region to eu-central-1/);
  expect(wrong.message).not.toMatch(/aws4_request/);
  const other = await bench();
  const headers = { location: "https://todo.evil.example/todo.txt", "x-amz-bucket-region": "eu-west-3" };
  for (const tool of ["get_object", "delete_object"]) {
    on.backend.forget();
    other.backend.inject({ kind: "status", status: 307, headers, body: errorXml("TemporaryRedirect") });
    const error = await failure(other.call(tool, todo));
    expect(error).toMatchObject({ status: 307, reason: "TemporaryRedirect" });
    expect(error.message).toMatch(/eu-west-3/);
    expect(error.message).not.toMatch(/todo\.txt\/|\/todo\.txt,/);
  }
  expect(other.text(todo)).toBe("milk\n");
});

test("S3-13: the session token is sent, and signed; an empty one is none", async () => {
  const on = await bench();
  await on.call("get_object", todo);
  const [request] = on.backend.requests;
  expect(request?.headers["x-amz-security-token"]).toBe(on.backend.options.sessionToken);
  expect(request?.headers["authorization"]).toMatch(/SignedHeaders=[a-z0-9;-]*x-amz-security-token/);
  const { longLived } = await import("../src/sandbox/wire.ts");
  const permanent = await bench({ ...longLived, sessionToken: "" });
  await permanent.call("get_object", todo);
  expect(permanent.backend.requests[0]?.headers).not.toHaveProperty("x-amz-security-token");
});

test("S3-16: a 403 tells nothing about a key: an error that says what to grant, and no write", async () => {
  for (const tool of ["put_object", "delete_object"]) {
    const on = await bench();
    on.world.allowed.delete("s3:ListBucket");
    const more = tool === "put_object" ? { content: "x" } : {};
    const error = await failure(on.call(tool, { ...fresh, ...more }));
    expect(error).toMatchObject({ code: "FAILED", status: 403, mayHaveApplied: false });
    expect(error.message).toMatch(
      /does not tell whether the key exists: grant s3:GetObject and s3:ListBucket/,
    );
    expect(on.writes()).toEqual([]);
    on.backend.inject({ kind: "status", status: 403, body: "" });
    expect(await failure(on.call(tool, { ...todo, ...more }))).toMatchObject({ status: 403 });
    expect(on.writes()).toEqual([]);
  }
});

test("S3-16: a bucket that is not there is an error, never an absent object", async () => {
  const on = await bench();
  const place = { bucket: "no-such-bucket", key: "a" };
  for (const [tool, more] of [
    ["put_object", { content: "x" }],
    ["delete_object", {}],
    ["restore_object", { backup_key: null }],
  ] as const) {
    const error = await failure(on.call(tool, { ...place, ...more }));
    expect(error).toMatchObject({ code: "FAILED", status: 404 });
    expect(error.message).toMatch(/nobody can tell what is in the bucket no-such-bucket/);
  }
  expect(await failure(on.call("get_object", place))).toMatchObject({ status: 404, reason: "NoSuchBucket" });
  expect(await failure(on.holds({ ...place, backup_key: null }))).toMatchObject({ code: "FAILED" });
  expect(on.writes()).toEqual([]);
});

test("S3-16: a copy that is denied stops the write", async () => {
  const on = await bench();
  on.backend.inject({ kind: "deny", status: 403 }, { ...copyOnly, times: Number.POSITIVE_INFINITY });
  expect(await failure(on.call("put_object", { ...todo, content: "x" }))).toMatchObject({ status: 403 });
  expect(on.text(todo)).toBe("milk\n");
});

test("S3-18: only a backup of ours is put back, and a missing name is not null", async () => {
  const on = await bench();
  for (const backup_key of [
    "other/secret",
    ".reversi-backups/",
    ".reversi-backups/../todo.txt",
    "",
    undefined,
  ]) {
    const error = await failure(
      on.call("restore_object", { ...todo, ...(backup_key !== undefined && { backup_key }) }),
    );
    expect(error).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining("backup_key"),
    });
  }
  expect(on.backend.requests).toEqual([]);
  expect(on.text(todo)).toBe("milk\n");
});

test("S3-18: a backup that a lifecycle rule removed is a failure, and the key stays as it is", async () => {
  const on = await bench();
  const put = await on.call("put_object", { ...todo, content: "bread" });
  on.backend.bucket("notes").objects.delete(String(put["backup_key"]));
  const error = await failure(on.undo("put_object", todo, put));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(
    /is not there any more \(a lifecycle rule may have removed it\); nothing was changed/,
  );
  expect(on.text(todo)).toBe("bread");
  expect(await failure(on.holds(on.undoOf("put_object", todo, put)))).toMatchObject({ code: "FAILED" });
});

test("without a word on what the step left, nothing that stands there is overwritten", async () => {
  const on = await bench();
  const { backup_key } = await on.call("delete_object", todo);
  expect(await on.call("restore_object", { ...todo, backup_key })).toMatchObject({ already: false });
  on.edit(todo, "Ada's");
  expect(await failure(on.call("restore_object", { ...todo, backup_key }))).toMatchObject({
    code: "CONFLICT",
  });
  expect(on.text(todo)).toBe("Ada's");
});

test.each(["put_object", "delete_object"])("a refused checkpoint of %s sends no write", async (tool) => {
  const on = await bench();
  const more = tool === "put_object" ? { content: "x" } : {};
  const checkpoint = async () => {
    throw new Error("the disk is full");
  };
  const error = await failure(on.call(tool, { ...todo, ...more }, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/the checkpoint was refused \(the disk is full\); nothing was written/);
  expect(on.writes()).toEqual([]);
});

test.each(["cutBefore", "cutAfter", "late"] as const)(
  "an answer to a put that is %s is looked up, both ways",
  async (kind) => {
    const on = await bench();
    const { kept, checkpoint } = keeping();
    on.backend.inject({ kind }, restoreOnly);
    const args = { ...todo, content: "bread" };
    const error = await failure(on.call("put_object", args, { idempotencyKey: key, checkpoint }));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(kept.checkpoint?.evidence).toEqual({ etag_before: expect.stringMatching(/^"[0-9a-f]{32}"$/) });
    expect(on.writes().filter(({ path }) => path.endsWith("todo.txt"))).toHaveLength(1);
    const early = await on.landed("put_object", args, key, kept.checkpoint);
    expect(early).toMatchObject({ landed: kind === "cutAfter" });
    await on.backend.settle();
    const answer = await on.landed("put_object", args, key, kept.checkpoint);
    if (kind === "cutBefore") return expect(answer).toEqual({ landed: false });
    expect(answer).toMatchObject({
      landed: true,
      result: { existed: true, size: 5, ...kept.checkpoint?.result },
    });
    const { result: found } = answer as { result: object };
    await on.undo("put_object", todo, found);
    expect(on.text(todo)).toBe("milk\n");
  },
);

test.each(["cutBefore", "cutAfter"] as const)(
  "an answer to a delete that is %s is looked up, both ways",
  async (kind) => {
    const on = await bench();
    const { kept, checkpoint } = keeping();
    on.backend.inject({ kind }, { method: "DELETE", path: /todo\.txt$/ });
    const error = await failure(on.call("delete_object", todo, { idempotencyKey: key, checkpoint }));
    expect(EffectUncertainError.is(error)).toBe(true);
    const answer = await on.landed("delete_object", todo, key, kept.checkpoint);
    expect(answer).toMatchObject({ landed: kind === "cutAfter" });
    if (kind === "cutBefore") return;
    await on.undo("delete_object", todo, (answer as { result: object }).result);
    expect(on.text(todo)).toBe("milk\n");
  },
);

test("a lost put that somebody overwrote since is unknown, and without a checkpoint absence proves nothing", async () => {
  const on = await bench();
  const { kept, checkpoint } = keeping();
  on.backend.inject({ kind: "cutAfter" }, restoreOnly);
  const args = { ...todo, content: "bread" };
  await failure(on.call("put_object", args, { idempotencyKey: key, checkpoint }));
  expect(await on.landed("put_object", args, key)).toMatchObject({ landed: true, result: { existed: true } });
  expect(await on.landed("put_object", args, "another-key-of-the-engine", kept.checkpoint)).toBe("unknown");
  on.edit(todo, "Ada's");
  expect(await on.landed("put_object", args, key, kept.checkpoint)).toBe("unknown");
  expect(await on.landed("put_object", { ...fresh, content: "x" }, key)).toBe("unknown");
  expect(await on.landed("delete_object", fresh, key)).toBe("unknown");
});

test("a lost delete of an object that somebody wrote since is unknown", async () => {
  const on = await bench();
  const { kept, checkpoint } = keeping();
  on.backend.inject({ kind: "cutAfter" }, { method: "DELETE", path: /todo\.txt$/ });
  await failure(on.call("delete_object", todo, { idempotencyKey: key, checkpoint }));
  on.edit(todo, "Ada's");
  expect(await on.landed("delete_object", todo, key, kept.checkpoint)).toBe("unknown");
});

test("the undo from a checkpoint alone is as good as the one from the result", async () => {
  const on = await bench();
  const { kept, checkpoint } = keeping();
  await on.call("put_object", { ...todo, content: "bread" }, { checkpoint });
  await on.undo("put_object", todo, kept.checkpoint?.result ?? {});
  expect(on.text(todo)).toBe("milk\n");
});

test("the same put under the same key is found, not written again", async () => {
  const on = await bench();
  const args = { ...todo, content: "bread" };
  const first = await on.call("put_object", args, { idempotencyKey: key });
  on.backend.forget();
  expect(await on.call("put_object", args, { idempotencyKey: key })).toEqual(first);
  expect(on.writes()).toEqual([]);
});

test("an attempt that failed after its backup uses the backup again; another content under its name is never touched", async () => {
  const on = await bench();
  const args = { ...todo, content: "bread" };
  on.backend.inject({ kind: "cutBefore" }, restoreOnly);
  await failure(on.call("put_object", args, { idempotencyKey: key }));
  const [backup = ""] = on.backups(todo);
  expect(await on.call("put_object", args, { idempotencyKey: key })).toMatchObject({ backup_key: backup });
  expect(on.backups(todo)).toHaveLength(1);
  const other = await bench();
  other.backend.inject({ kind: "cutBefore" }, restoreOnly);
  await failure(other.call("put_object", args, { idempotencyKey: key }));
  other.edit(todo, "Ada's");
  const error = await failure(other.call("put_object", args, { idempotencyKey: key }));
  expect(error.message).toMatch(/holds another backup of the same call/);
  expect([other.text(todo), other.text({ bucket: "notes", key: backup })]).toEqual(["Ada's", "milk\n"]);
});

test("another request that changes the object just now is an error, and the step can be repeated", async () => {
  const on = await bench();
  const body = errorXml("ConditionalRequestConflict");
  on.backend.inject({ kind: "status", status: 409, body }, restoreOnly);
  const error = await failure(on.call("put_object", { ...todo, content: "bread" }));
  expect(error).toMatchObject({
    code: "FAILED",
    status: 409,
    reason: "ConditionalRequestConflict",
    mayHaveApplied: false,
  });
  expect(on.text(todo)).toBe("milk\n");
  await on.call("put_object", { ...todo, content: "bread" });
  expect(on.text(todo)).toBe("bread");
});

test("SlowDown is a rate limit: not executed, and said so", async () => {
  const on = await bench();
  on.backend.inject({ kind: "rateLimit" }, restoreOnly);
  expect(await failure(on.call("put_object", { ...todo, content: "x" }))).toMatchObject({
    ...{ status: 503, reason: "SlowDown", mayHaveApplied: false },
    message: expect.stringContaining("rate limit"),
  });
  const error = await (async () => {
    on.backend.inject({ kind: "status", status: 503, body: errorXml("ServiceUnavailable") }, restoreOnly);
    return failure(on.call("put_object", { ...todo, content: "y" }));
  })();
  expect(error).toMatchObject({ status: 503, reason: "ServiceUnavailable", mayHaveApplied: true });
});
