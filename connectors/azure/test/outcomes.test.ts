import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { token } from "../src/sandbox/wire.ts";
import { putBlob } from "../src/sandbox.ts";
import { type Bench, bench, failure, key, todo } from "./bench.ts";

const forward: readonly [string, { container: string; blob: string }, string][] = [
  ["put_blob", { ...todo, content: "bread" } as typeof todo, "PUT"],
  ["put_blob", { container: "notes", blob: "new", content: "x" } as typeof todo, "PUT"],
  ["delete_blob", todo, "DELETE"],
];

/** Calls a tool whose write of the blob itself goes wrong, and keeps what it made durable. */
async function lose(on: Bench, tool: string, args: { readonly blob: string }, method: string, fault: object) {
  const path = (line: string) => line.endsWith(`/${args.blob}`);
  on.backend.inject(fault as { kind: "late" }, { method, path });
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(on.call(tool, args, { idempotencyKey: key, checkpoint }));
  return { error, checkpoint: kept[0] };
}

test.each(forward)(
  "HT-01: %s %j sent once, its answer lost or useless: unknown",
  async (tool, args, method) => {
    for (const fault of [
      { kind: "cutAfter", reset: true },
      { kind: "cutBefore" },
      { kind: "garbage" },
      { kind: "status", status: 200, body: "" },
      { kind: "status", status: 204 },
    ]) {
      const on = await bench();
      const { error, checkpoint } = await lose(on, tool, args, method, fault);
      expect([fault, EffectUncertainError.is(error)]).toEqual([fault, true]);
      expect(error.expectedResult).toEqual(checkpoint?.result);
      expect(on.writes().filter(({ path }) => path.endsWith(`/${args.blob}`))).toHaveLength(1);
    }
  },
);

test.each(forward)(
  "%s %j: landed tells the truth both ways, late delivery included",
  async (tool, args, method) => {
    const on = await bench();
    const before = await on.state();
    const { checkpoint } = await lose(on, tool, args, method, { kind: "late" });
    expect(await on.landed(tool, args, checkpoint)).toEqual({ landed: false });
    await on.backend.settle();
    const answer = await on.landed(tool, args, checkpoint);
    expect(answer).toMatchObject({ landed: true, result: checkpoint?.result });
    if (answer === "unknown" || !answer?.landed) throw new Error("it landed");
    expect(await on.undo(tool, args, answer.result as object)).toMatchObject({ already: false });
    expect(await on.state()).toEqual(before);
  },
);

test.each(forward)(
  "%s %j: the undo from the checkpoint alone ends in the prior state",
  async (tool, args, method) => {
    for (const kind of ["cutBefore", "cutAfter"]) {
      const on = await bench();
      const before = await on.state();
      const { checkpoint } = await lose(on, tool, args, method, { kind });
      const undone = await on.undo(tool, args, checkpoint?.result ?? {});
      expect(undone).toMatchObject({ already: kind === "cutBefore" });
      expect(await on.state()).toEqual(before);
    }
  },
);

test.each(forward)("%s %j: a write that comes late fails once its undo wrote", async (tool, args, method) => {
  const on = await bench();
  const { checkpoint } = await lose(on, tool, args, method, { kind: "late" });
  putBlob(on.notes, args.blob, "Ada's");
  await on.backend.settle();
  expect(on.notes.blobs.get(args.blob)?.content.toString()).toBe("Ada's");
  expect(await on.landed(tool, args, checkpoint)).toBe("unknown");
  expect(await failure(on.undo(tool, args, checkpoint?.result ?? {}))).toMatchObject({ code: "CONFLICT" });
});

test("a lost put_blob is known by its mark alone, also without a checkpoint", async () => {
  const on = await bench();
  for (const [tool, args, method] of forward.slice(0, 2)) {
    const { checkpoint } = await lose(on, tool, args, method, { kind: "cutAfter" });
    expect(await on.landed(tool, args)).toMatchObject({ landed: true, result: checkpoint?.result });
    expect(await on.landed(tool, args, undefined, "another")).toBe("unknown");
  }
  expect(await on.landed("delete_blob", todo)).toBe("unknown");
});

test.each(["cutBefore", "cutAfter"])(
  "a restore whose answer is lost (%s) is told by holds, and can be repeated",
  async (kind) => {
    for (const [tool, args] of forward) {
      const on = await bench();
      const before = await on.state();
      const result = await on.call(tool, args);
      const undo = on.undoArgs(tool, args, result);
      const { error } = await lose(
        on,
        "restore_blob",
        undo as typeof todo,
        "backup_key" in undo && undo["backup_key"] ? "PUT" : "DELETE",
        { kind },
      );
      expect(EffectUncertainError.is(error)).toBe(true);
      expect(await on.holds(undo)).toBe(kind === "cutAfter");
      expect(await on.call("restore_blob", undo)).toMatchObject({ already: kind === "cutAfter" });
      expect(await on.state()).toEqual(before);
    }
  },
);

test.each(forward)("%s %j: 500 OperationTimedOut may have taken effect", async (tool, args, method) => {
  const on = await bench();
  const headers = { "x-ms-error-code": "OperationTimedOut" };
  const { error } = await lose(on, tool, args, method, {
    kind: "status",
    status: 500,
    effect: true,
    headers,
    body: "",
  });
  expect(error).toMatchObject({
    code: "FAILED",
    status: 500,
    reason: "OperationTimedOut",
    mayHaveApplied: true,
  });
});

test.each(forward)("%s %j: a checkpoint that is refused stops it before any write", async (tool, args) => {
  const on = await bench();
  const checkpoint = async () => {
    throw new Error("the disk is full");
  };
  const error = await failure(on.call(tool, args, { checkpoint }));
  expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  expect(error.message).toMatch(/the disk is full.*nothing was written/);
  expect(on.writes()).toEqual([]);
});

describe("what Azure refuses", () => {
  test("503 ServerBusy is a limit: nothing was done, and the waiting time is named where there is one", async () => {
    const on = await bench();
    on.backend.inject({ kind: "rateLimit", retryAfter: 30 }, { method: "DELETE" });
    const error = await failure(on.call("delete_blob", todo));
    expect(error).toMatchObject({
      status: 503,
      reason: "ServerBusy",
      retryAfterSeconds: 30,
      mayHaveApplied: false,
    });
    on.world.remaining = 0;
    const bare = await failure(on.call("get_blob", todo));
    expect(bare).toMatchObject({ reason: "ServerBusy", retryAfterSeconds: undefined });
    expect(bare.message).toContain("without a word on how long to wait");
    expect(on.notes.blobs.has(todo.blob)).toBe(true);
  });

  test("an expired token, and one of somebody else, are errors that say so", async () => {
    const on = await bench();
    on.world.token = "expired";
    const error = await failure(on.call("get_blob", todo));
    expect(error).toMatchObject({ status: 401, reason: "InvalidAuthenticationInfo" });
    expect(error.message).toContain("https://storage.azure.com/");
    const stranger = await bench({ token: `${token.slice(0, -3)}xyz` });
    expect(await failure(stranger.call("delete_blob", todo))).toMatchObject({ status: 401 });
  });

  test("a token that expires between the backup and the write leaves the blob as it is", async () => {
    const on = await bench();
    on.meanwhile("DELETE", () => {
      on.world.token = "expired";
    });
    expect(await failure(on.call("delete_blob", todo))).toMatchObject({ code: "FAILED", status: 401 });
    expect(on.notes.blobs.has(todo.blob)).toBe(true);
  });

  test("HT-05: a redirect of a copy is not followed: it would take the source's token elsewhere", async () => {
    const other = await bench();
    for (const status of [301, 302, 303, 307, 308]) {
      const on = await bench();
      const headers = { location: `${other.backend.address}/reversisandbox0/notes/x` };
      on.backend.inject({ kind: "status", status, headers, body: "" }, { method: "PUT" });
      const error = await failure(on.call("delete_blob", todo));
      expect(error).toMatchObject({ code: "FAILED", status });
      on.backend.inject({ kind: "status", status, headers, body: "" }, { method: "GET" });
      expect(await failure(on.call("get_blob", todo))).toMatchObject({ status });
    }
    expect(other.backend.requests).toEqual([]);
  });

  test.each(forward)(
    "%s %j: no form of an error repeats the token or the details of a failed login",
    async (tool, args) => {
      for (const as of ["json", "html", "text", "header"] as const) {
        const on = await bench();
        on.backend.inject({ kind: "echo", as }, { method: "PUT" });
        on.backend.inject({ kind: "echo", as }, { method: "DELETE" });
        const error = await failure(on.call(tool, args));
        expect(JSON.stringify([error.message, error])).not.toContain(token);
      }
      const on = await bench();
      const body =
        "<Error><Code>AuthenticationFailed</Code><Message>m</Message><AuthenticationErrorDetail>aud=secret-detail</AuthenticationErrorDetail></Error>";
      on.backend.inject({ kind: "status", status: 403, body }, { method: "GET" });
      const error = await failure(on.call("get_blob", todo));
      expect(error).toMatchObject({ reason: "AuthenticationFailed" });
      expect(error.message).not.toContain("secret-detail");
    },
  );

  test("tokens, signatures and keys that nobody configured are hidden in messages by their shape", async () => {
    const on = await bench();
    for (const text of [
      "eyJhbGciOi.eyJhdWQiOi.c2lnbmF0dXJl",
      "sig=abc%2Fdef012345678901234567890%3D",
      "AccountKey=abcdefghijklmnopqrstuv==",
    ]) {
      const checkpoint = async () => {
        throw new Error(`failed with ${text}`);
      };
      const error = await failure(on.call("delete_blob", todo, { checkpoint }));
      expect(error.message).not.toContain(text.slice(-12));
    }
  });
});
