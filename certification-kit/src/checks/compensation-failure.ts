import type { RollbackReport } from "@reversi-connector/engine";
import type { Bench, Case } from "../bench.ts";
import { nameOf, type Spot, spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import type { Fault, SentRequest } from "../fault.ts";
import type { World } from "../world.ts";

/** A report never says more than the backend shows. */
export async function overclaims(world: World, report: RollbackReport): Promise<string | undefined> {
  if (report.status !== "complete") return undefined;
  const wrong = await world.unrestored();
  return wrong === undefined ? undefined : `the report says complete, and it is not: ${wrong}`;
}

/** The state after everything went well in the end. */
export async function completed(
  { unrestored }: Pick<World, "unrestored">,
  report: RollbackReport,
): Promise<string | undefined> {
  const wrong = await unrestored();
  if (wrong !== undefined) return `once nothing goes wrong any more, not all is as it was: ${wrong}`;
  return report.status === "complete"
    ? undefined
    : `once nothing goes wrong any more, it is still not complete: ${JSON.stringify(report.groups)}`;
}

/** A read that failed may be asked once more, before anything is written. */
function askedAgain(sent: readonly SentRequest[], { skip, request }: Spot): boolean {
  const later = sent.slice(skip + 1);
  const write = later.findIndex(({ writes }) => writes);
  const reads = write === -1 ? later : later.slice(0, write);
  return !request.writes && reads.some(({ line }) => line === request.line);
}

/** An undo that meets a fault: told as it is, and completed by the next rollback. */
const faultedUndo = (fault: Fault, spot: Spot, inUndo: boolean): Case => ({
  name: `the undo meets ${nameOf(fault, spot)}`,
  async verify(world) {
    const { wire, tool, args } = world;
    const run = await world.run();
    await run.call(tool.name, args);
    const from = world.sent().length;
    wire.inject(fault, spot.skip);
    const first = await run.rollback();
    const wrong = await overclaims(world, first);
    if (wrong !== undefined) return wrong;
    const failed =
      fault.kind === "serverError" && !fault.effect && inUndo && !askedAgain(world.sent().slice(from), spot);
    const { compensation_failed: told, compensation_uncertain: unknown } = first.counts;
    // A breakdown that takes the connection along leaves a write unknown; a read it just fails.
    if (failed && told !== 1 && !(spot.request.writes && unknown === 1)) {
      return `the backend answered ${fault.status}, and the report says ${JSON.stringify(first.groups)}`;
    }
    await wire.clear();
    const second = await run.rollback();
    // What was lost on the way may still arrive, and must do no harm any more.
    const early = await overclaims(world, second);
    await wire.settle();
    const late = early ?? (await overclaims(world, second));
    if (late !== undefined) return late;
    // Until it has arrived, a backend may rightly keep others off what it is about.
    const waits = fault.kind === "late" && second.status !== "complete";
    return completed(world, waits ? await run.rollback() : second);
  },
});

function* faults({ tool, facts }: Bench, { request }: Spot): Generator<Fault> {
  for (const status of facts.statuses.serverError) {
    yield { kind: "serverError", status, effect: false };
    yield { kind: "serverError", status, effect: true };
    const stores = tool.undo?.guarantees?.idempotency?.replays_errors === true;
    if (stores && request.writes) yield { kind: "serverError", status, effect: false, stored: true };
  }
  yield { kind: "cutBefore" };
  yield { kind: "cutAfter" };
  yield { kind: "cutBody" };
  yield { kind: "rateLimit" };
  if (request.writes) yield { kind: "late" };
}

/** Something in the way of the undo that somebody then removes. */
const obstructed: Case = {
  name: "the undo is obstructed",
  async verify(world) {
    const { backend, plan, tool, args } = world;
    const run = await world.run();
    const { result } = await run.call(tool.name, args);
    const clear = plan.obstruct?.(backend, { args, result });
    const first = await run.rollback();
    if (first.status === "complete") return (await overclaims(world, first)) ?? "nothing was in its way";
    await clear?.();
    return completed(world, await run.rollback());
  },
};

export const compensationFailure: Check = {
  name: "compensation_failure",
  title: "Compensation failure",
  sentence:
    "An undo that fails, at any of its requests, leaves the rollback incomplete, never complete in word alone; once the fault is gone, the next rollback completes.",
  applies: ({ tools }) =>
    tools.some(({ manifest }) => manifest.compensation) || because("no tool declares a compensation"),
  concerns: ({ manifest }) => manifest.compensation !== undefined,
  after: ["forward_success", "compensation_success", "verification_failure"],
  async verify(bench) {
    const { tool, plan, facts, all, fail, cleanUndo } = bench;
    const cases: Case[] = plan.obstruct ? [obstructed] : [];
    if (!plan.obstruct && !facts.network) {
      fail("the undo is obstructed", `the subject gives nothing that obstructs the undo of ${tool.name}`);
    }
    if (facts.network) {
      const { sent } = await cleanUndo();
      const lastWrite = sent.findLastIndex(({ writes }) => writes);
      for (const spot of spotsOf(sent)) {
        for (const fault of faults(bench, spot)) cases.push(faultedUndo(fault, spot, spot.skip <= lastWrite));
      }
    }
    await all(cases);
  },
};
