import { type Checkpoint, EffectUncertainError } from "@reversi-connector/core";
import { gcp } from "../src/index.ts";
import { token } from "../src/sandbox/wire.ts";
import {
  type Bench,
  bench,
  failure,
  fresh,
  key,
  type Place,
  plan,
  removal,
  rewrite,
  todo,
  upload,
} from "./bench.ts";

type Where = typeof upload | typeof removal;
const forward: readonly [string, Place & { readonly content?: string }, Where][] = [
  ["put_object", { ...todo, content: "bread" }, upload],
  ["put_object", { ...fresh, content: "x" }, upload],
  ["put_object", { ...plan, content: "third" }, upload],
  ["delete_object", todo, removal],
];

type Fault = Parameters<Bench["backend"]["inject"]>[0];

/** Calls a tool whose write of the object itself goes wrong, and keeps what it made durable. */
async function lose(on: Bench, tool: string, args: Place, where: Where, fault: Fault) {
  on.backend.inject(fault, where);
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(on.call(tool, args, { idempotencyKey: key, checkpoint }));
  return { error, checkpoint: kept[0] };
}

const faults: readonly Fault[] = [
  { kind: "cutAfter", reset: true },
  { kind: "cutBefore" },
  { kind: "garbage" },
  { kind: "cutBody" },
  { kind: "status", status: 200, body: { kind: "storage#object", name: "another" } },
  { kind: "status", status: 200, body: "" },
];

test.each(forward)(
  "HT-01: %s %j is sent once, and an answer lost or useless is unknown",
  async (tool, args, where) => {
    for (const fault of faults) {
      // An empty answer has no body that could be cut.
      if (fault.kind === "cutBody" && where === removal) continue;
      const on = await bench();
      const { error, checkpoint } = await lose(on, tool, args, where, fault);
      expect([fault, EffectUncertainError.is(error)]).toEqual([fault, true]);
      expect(error.expectedResult).toEqual(checkpoint?.result);
      const sent = on.writes().filter(({ pathname }) => !rewrite.path.test(pathname));
      expect(sent).toHaveLength(1);
    }
  },
);

test.each(forward)(
  "%s %j: landed tells the truth both ways, late delivery included",
  async (tool, args, where) => {
    const on = await bench();
    const before = await on.state();
    const { checkpoint } = await lose(on, tool, args, where, { kind: "late" });
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
  async (tool, args, where) => {
    for (const kind of ["cutBefore", "cutAfter"] as const) {
      const on = await bench();
      const before = await on.state();
      const { checkpoint } = await lose(on, tool, args, where, { kind });
      const undone = await on.undo(tool, args, checkpoint?.result ?? {});
      expect(undone).toMatchObject({ already: kind === "cutBefore" });
      expect(await on.state()).toEqual(before);
    }
  },
);

test.each(forward)(
  "%s %j: a write that comes late does no harm to what somebody did",
  async (tool, args, where) => {
    const on = await bench();
    const { checkpoint } = await lose(on, tool, args, where, { kind: "late" });
    on.put(args, "Ada's");
    await on.backend.settle();
    expect(on.text(args)).toBe("Ada's");
    expect(await on.landed(tool, args, checkpoint)).toBe("unknown");
    expect(await failure(on.undo(tool, args, checkpoint?.result ?? {}))).toMatchObject({ code: "CONFLICT" });
  },
);

test("a lost put_object is known by its mark alone; without evidence nothing is claimed", async () => {
  const on = await bench();
  for (const [tool, args, where] of forward.slice(0, 2)) {
    const { checkpoint } = await lose(on, tool, args, where, { kind: "cutAfter" });
    expect(await on.landed(tool, args)).toMatchObject({ landed: true, result: checkpoint?.result });
    expect(await on.landed(tool, args, undefined, "another")).toBe("unknown");
  }
  expect(await on.landed("delete_object", todo)).toBe("unknown");
});

test.each(["cutBefore", "cutAfter"] as const)(
  "a restore whose answer is lost (%s) is told by holds, and can be repeated",
  async (kind) => {
    for (const [tool, args] of forward) {
      const on = await bench();
      const before = await on.state();
      const undo = on.undoArgs(tool, args, await on.call(tool, args));
      on.backend.inject({ kind }, undo["backup_key"] ? rewrite : removal);
      expect(EffectUncertainError.is(await failure(on.call("restore_object", undo)))).toBe(true);
      expect(await on.holds(undo)).toBe(kind === "cutAfter");
      expect(await on.call("restore_object", undo)).toMatchObject({ already: kind === "cutAfter" });
      expect(await on.state()).toEqual(before);
    }
  },
);

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

describe("Google's limits", () => {
  test("too many changes of one object are waited out: nothing was done yet", async () => {
    const on = await bench();
    on.world.busy.set(todo.object, 1);
    expect(await on.call("put_object", { ...todo, content: "bread" })).toMatchObject({ existed: true });
    expect(on.writes().map(({ status }) => status)).toEqual([200, 429, 200]);
  });

  test("where the call's time does not allow that, the error names the wait", async () => {
    const on = await bench({ timeoutMs: 900 });
    on.world.busy.set(todo.object, 1);
    const error = await failure(on.call("delete_object", todo));
    const limited = { status: 429, reason: "rateLimitExceeded", retryAfterSeconds: 1, mayHaveApplied: false };
    expect(error).toMatchObject({ code: "FAILED", ...limited });
    expect(error.message).toContain("try again in 1 s");
    expect(on.text(todo)).toBe("milk\n");
  });

  test("a project's limit is an error at once, as 429 and as 403", async () => {
    const on = await bench();
    on.world.remaining = 0;
    const error = await failure(on.call("get_object", todo));
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: undefined });
    expect(error.message).toContain("without a word on how long to wait");
    on.world.remaining = 10;
    const errors = [{ reason: "userRateLimitExceeded", domain: "usageLimits", message: "m" }];
    const body = { error: { code: 403, message: "User Rate Limit Exceeded", errors } };
    on.backend.inject({ kind: "status", status: 403, headers: { "retry-after": "99" }, body }, removal);
    expect(await failure(on.call("delete_object", todo))).toMatchObject({
      ...{ status: 403, reason: "userRateLimitExceeded", retryAfterSeconds: 99, mayHaveApplied: false },
    });
  });
});

describe("what Google refuses", () => {
  test("an expired token, and one of somebody else, are errors that say so", async () => {
    const on = await bench();
    on.meanwhile(removal, () => {
      on.world.token = "expired";
    });
    const error = await failure(on.call("delete_object", todo));
    expect(error).toMatchObject({ code: "FAILED", status: 401, reason: "authError", mayHaveApplied: false });
    expect(error.message).toContain("about an hour");
    expect(error.requestId).toMatch(/^ADPycd/);
    expect(on.text(todo)).toBe("milk\n");
    const stranger = await bench({ token: `${token.slice(0, -3)}xyz` });
    expect(await failure(stranger.call("delete_object", todo))).toMatchObject({ status: 401 });
  });

  test("to overwrite needs the permission to delete, and a refusal leaves the object as it is", async () => {
    const on = await bench();
    on.world.allowed.delete("storage.objects.delete");
    expect(await on.call("put_object", { ...fresh, content: "x" })).toMatchObject({ existed: false });
    for (const call of [on.call("put_object", { ...todo, content: "x" }), on.call("delete_object", todo)]) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: "FAILED", status: 403, reason: "forbidden" });
      expect(error.message).toContain("storage.objects.delete");
    }
    expect(on.text(todo)).toBe("milk\n");
  });

  test("HT-05: no redirect takes the token, or a content, elsewhere", async () => {
    const other = await bench();
    for (const status of [301, 302, 303, 307, 308]) {
      const on = await bench();
      const headers = { location: `${other.backend.address}/storage/v1/b/notes/o/x` };
      for (const [where, tool] of [
        [rewrite, "delete_object"],
        [{ method: "GET" }, "get_object"],
      ] as const) {
        on.backend.inject({ kind: "status", status, headers, body: "" }, where);
        expect(await failure(on.call(tool, todo))).toMatchObject({ code: "FAILED", status });
      }
    }
    expect(other.backend.requests).toEqual([]);
  });

  test("HT-09: a base URL keeps its path, and may hold no user info", async () => {
    const on = await bench();
    const inside = await bench({ baseUrl: `${on.backend.address}/proxy/` });
    await failure(inside.call("get_object", todo));
    expect(on.backend.requests[0]?.path).toBe("/proxy/storage/v1/b/notes/o/todo.txt");
    const baseUrl = "https://user:geheimes@storage.example";
    const error = await failure((async () => gcp({ token, baseUrl }))());
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(error.message).not.toContain("geheimes");
  });

  test("SE-01: tokens, keys and signatures that nobody configured are hidden in messages by their shape", async () => {
    const on = await bench();
    for (const text of [
      "ya29.c.b0AXv0zTPabcdefghijklmnop",
      `AIza${"Sy".repeat(17)}D`,
      "X-Goog-Signature=0123456789abcdef0123",
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0",
    ]) {
      const checkpoint = async () => {
        throw new Error(`failed with ${text}`);
      };
      const error = await failure(on.call("delete_object", todo, { checkpoint }));
      expect(error.message).toContain("failed with");
      expect(error.message).not.toContain(text.slice(-12));
    }
  });
});
