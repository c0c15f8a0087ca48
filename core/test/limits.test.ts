import { createHook } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { ConnectorError } from "../src/index.ts";
import { box, failure, token } from "./box.ts";

const good = { name: "a", text: "new" };
const never = () => new Promise<never>(() => {});

const soon = () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 10);
  return controller.signal;
};
describe.each<[string, () => { signal?: AbortSignal; timeoutMs?: number; why: string }]>([
  ["cancelled", () => ({ signal: soon(), why: "cancelled" })],
  ["over its time", () => ({ timeoutMs: 10, why: "no answer within 10 ms" })],
])("a call that is %s", (_how, limits) => {
  const run = (handlers: Parameters<typeof box>[0]) => {
    const { signal, timeoutMs, why } = limits();
    const made = box(handlers, { timeoutMs });
    return { ...made, why, context: { signal } };
  };
  const stopped = (signal: AbortSignal) =>
    new Promise<void>((yes) => signal.addEventListener("abort", () => yes()));

  test("ends soon, with an unknown outcome, when its write does not listen", async () => {
    const { put, why, context } = run({ put: never });
    const error = await failure(put(good, { ...context, idempotencyKey: "k" }));
    expect(error).toMatchObject({
      code: "EFFECT_UNCERTAIN",
      message: `box.put: ${why}`,
      idempotencyKey: "k",
    });
  });
  test("ends soon, without doubt, when its read does not listen", async () => {
    const { read, why, context } = run({ read: never });
    expect(await failure(read({ name: "a" }, context))).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: `box.read: ${why}`,
    });
  });
  test("has an unknown outcome when a write ends with the signal's reason: it may have been sent", async () => {
    const { put, why, context } = run({
      put: async ({ checkpoint, signal }) => {
        await checkpoint({ result: { name: "a" } });
        await stopped(signal);
        throw signal.reason;
      },
    });
    expect(await failure(put(good, context))).toMatchObject({
      code: "EFFECT_UNCERTAIN",
      message: `box.put: ${why}`,
      expectedResult: { name: "a" },
    });
  });
  test("is what its connection says it is, within a moment", async () => {
    const { put, context } = run({
      put: async ({ signal }) => {
        await stopped(signal);
        throw new ConnectorError("cancelled; nothing was sent");
      },
    });
    expect(await failure(put(good, context))).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  });
  test("is done when it is done all the same", async () => {
    const { put, context } = run({
      put: async ({ signal }) => {
        await stopped(signal);
        return { name: "a", old: null, about: "done" };
      },
    });
    expect(await put(good, context)).toMatchObject({ about: "done" });
  });
  test("writes nothing after its end, where it takes a checkpoint first", async () => {
    let wake: () => void = () => {};
    const woken = new Promise<void>((yes) => {
      wake = yes;
    });
    let late: Promise<unknown> = Promise.resolve();
    const { put, shelf, context } = run({
      put: ({ checkpoint, client }) => {
        late = woken.then(() => checkpoint({ result: {} })).then(() => client.set("a", "late"));
        return late as never;
      },
    });
    await failure(put(good, context));
    wake();
    expect(await failure(late)).toMatchObject({ code: "FAILED" });
    expect(shelf.items.size).toBe(0);
  });
});

describe("progress", () => {
  test("reaches the caller redacted", async () => {
    const heard: unknown[] = [];
    const { put } = box({
      put: async ({ progress }) => {
        progress({ message: `copying with ${encodeURIComponent(token)} and vendor_abc`, done: 1, total: 2 });
        return { name: "a", old: null, about: "" };
      },
    });
    await put(good, { progress: (news) => heard.push(news) });
    expect(heard).toEqual([{ message: "copying with [redacted] and [redacted]", done: 1, total: 2 }]);
  });
  test("of a listener that throws does not break off a write", async () => {
    const { put } = box({
      put: async ({ progress }) => {
        progress({ message: "half way" });
        return { name: "a", old: null, about: "done" };
      },
    });
    const progress = () => {
      throw new Error("closed");
    };
    expect(await put(good, { progress })).toMatchObject({ about: "done" });
  });
  test("ends with the call", async () => {
    const heard: unknown[] = [];
    let tell: ((news: { message: string }) => void) | undefined;
    const { put } = box({
      put: async ({ progress }) => {
        tell = progress;
        return { name: "a", old: null, about: "" };
      },
    });
    await put(good, { progress: (news) => heard.push(news) });
    tell?.({ message: "late" });
    expect(heard).toEqual([]);
  });
});

describe("after a call nothing is left: no timer, no listener", () => {
  /** Timers that core set while `work` ran and that neither fired nor were cleared. Jest sets some of its own. */
  async function leftBy(work: () => Promise<unknown>): Promise<number> {
    const open = new Set<number>();
    const hook = createHook({
      init(id, type) {
        if (type === "Timeout" && new Error().stack?.includes("/core/src/")) open.add(id);
      },
      destroy: (id) => open.delete(id),
    }).enable();
    await work();
    // What has ended is told in batches, a turn or two later.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    hook.disable();
    return open.size;
  }
  test("those of a call in flight are noticed", async () => {
    const controller = new AbortController();
    let running: Promise<unknown> = Promise.resolve();
    const left = await leftBy(async () => {
      running = failure(box({ put: never }).put(good, { signal: controller.signal }));
    });
    controller.abort();
    await running;
    expect(left).toBe(1);
  });
  test.each<[string, Parameters<typeof box>[0]]>([
    ["done", {}],
    ["failed", { put: async () => Promise.reject(new Error("x")) }],
  ])("of one that is %s", async (_how, handlers) => {
    const { signal } = new AbortController();
    const { put, holds } = box(handlers);
    const left = await leftBy(async () => {
      const running = [put(good, { signal }).catch(() => {}), holds({ name: "a", old: null }, { signal })];
      expect(getEventListeners(signal, "abort")).toHaveLength(2);
      await Promise.all(running);
    });
    expect(left).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
  test("of one that was cancelled in flight", async () => {
    const controller = new AbortController();
    const left = await leftBy(async () => {
      const running = failure(box({ put: never }).put(good, { signal: controller.signal }));
      controller.abort();
      await running;
    });
    expect(left).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });
});
