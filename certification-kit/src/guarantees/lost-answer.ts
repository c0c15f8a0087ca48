import { type Checkpoint, hashOf, type Landed } from "@reversi-connector/core";
import type { RollbackReport } from "@reversi-connector/engine";
import type { Bench, Case } from "../bench.ts";
import { nameOf, type Spot, spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { overclaims } from "../checks/compensation-failure.ts";
import type { CallOptions } from "../engine-run.ts";
import { because, type ToolFacts } from "../facts.ts";
import type { Fault } from "../fault.ts";
import { type Ended, ended, told } from "../outcome.ts";
import { misfit } from "../schema.ts";
import { difference } from "../states.ts";
import type { World } from "../world.ts";

/** Whether the manifest says that a lost answer settles itself. */
const settles = ({ manifest: { guarantees, compensation } }: ToolFacts): boolean =>
  compensation !== undefined &&
  (guarantees?.uncertain === "landed" || guarantees?.undo_from_checkpoint === true);

const isUnknown = (outcome: Ended): boolean =>
  "error" in outcome && (outcome.error as { mayHaveApplied?: boolean }).mayHaveApplied !== false;

async function settled(world: World, report: RollbackReport): Promise<string | undefined> {
  const { tool, unrestored, changed } = world;
  const lie = await overclaims(world, report);
  if (lie !== undefined) return lie;
  if (!settles(tool)) {
    const stands = await changed();
    const said = report.status === "complete" && stands !== undefined && !tool.undo;
    return said ? `the effect stands, and the report says complete: ${stands}` : undefined;
  }
  const wrong = await unrestored();
  if (wrong !== undefined) {
    return `the manifest says that a lost answer is settled, and it stands: ${wrong} (${JSON.stringify(report.groups)})`;
  }
  return report.status === "complete"
    ? undefined
    : `all is as it was, and it is not settled: ${JSON.stringify(report.groups)}`;
}

/** A call whose answer is lost, and then the rollback. */
const lost = (fault: Fault, spot: Spot): Case => ({
  name: nameOf(fault, spot),
  async verify(world) {
    const { wire, tool, args } = world;
    const run = await world.run();
    wire.inject(fault, spot.skip);
    const outcome = await ended(run.call(tool.name, args));
    if (!isUnknown(outcome)) return undefined;
    await wire.clear();
    const report = await run.rollback();
    const wrong = await settled(world, report);
    if (wrong !== undefined) return wrong;
    await wire.settle();
    return overclaims(world, report);
  },
});

/** The same without a network: the process is gone before the answer is. */
const ends = (when: NonNullable<CallOptions["ends"]>): Case => ({
  name: `the process ends ${when}`,
  async verify(world) {
    const run = await world.run();
    await ended(run.call(world.tool.name, world.args, { ends: when }));
    const report = await run.rollback();
    const verdict = await endedAs(world, report);
    await run.end();
    return verdict;
  },
});

async function endedAs(world: World, report: RollbackReport): Promise<string | undefined> {
  const lie = await overclaims(world, report);
  if (lie !== undefined || !settles(world.tool)) return lie;
  const wrong = await world.unrestored();
  if (wrong !== undefined) return `the manifest says that it is settled, and it stands: ${wrong}`;
  return report.status === "complete" ? undefined : `it is not settled: ${JSON.stringify(report.groups)}`;
}

/** The evidence of a call that went well, with nothing but what was durable before its write. */
const evidenceOfSuccess = ({ tool }: Bench): Case => ({
  name: "the evidence of a call that went well",
  async verify({ connector, args, call }) {
    const idempotencyKey = hashOf("certification, a good call");
    const since = new Date();
    let checkpoint: Checkpoint | undefined;
    await call({
      idempotencyKey,
      checkpoint: async (kept) => {
        checkpoint = kept;
      },
    });
    const answer = await connector.landed[tool.name]?.(args, { since, idempotencyKey, checkpoint });
    return truthful(tool, answer as Landed<unknown>, true);
  },
});

/** The evidence itself, asked right after the answer was lost. */
const evidence = ({ tool }: Bench, fault: Fault, spot: Spot, happened: boolean): Case => ({
  name: `the evidence after: ${nameOf(fault, spot)}`,
  async verify(world) {
    const { wire, connector, args, call, state, sent } = world;
    const idempotencyKey = hashOf("certification, a lost answer");
    const since = new Date();
    let checkpoint: Checkpoint | undefined;
    wire.inject(fault, spot.skip);
    const outcome = await ended(
      call({
        idempotencyKey,
        checkpoint: async (kept) => {
          checkpoint = kept;
        },
      }),
    );
    if (!isUnknown(outcome)) return undefined;
    await wire.clear();
    const [before, from] = [await state(), sent().length];
    const answer = await ended(
      Promise.resolve(connector.landed[tool.name]?.(args, { since, idempotencyKey, checkpoint })),
    );
    const written = sent()
      .slice(from)
      .find(({ writes }) => writes);
    if (written) return `to look, it sent a write: ${written.line}`;
    const change = difference(before, await state());
    if (change !== undefined) return `to look, it changed the backend: ${change}`;
    if ("error" in answer) return `it can be looked up, and ${told(answer)}`;
    return truthful(tool, answer.value as Landed<unknown>, happened);
  },
});

function truthful(tool: ToolFacts, answer: Landed<unknown>, happened: boolean): string | undefined {
  if (answer === "unknown") {
    return tool.manifest.guarantees?.uncertain === "landed"
      ? "the manifest promises evidence, and it says unknown"
      : undefined;
  }
  if (answer.landed !== happened) {
    return happened
      ? "it took effect, and the evidence says it did not"
      : "it took no effect, and the evidence says it did";
  }
  return answer.landed
    ? misfit(tool.output, answer.result, "the result that the evidence brings")
    : undefined;
}

const losing: readonly Fault[] = [{ kind: "cutBefore" }, { kind: "cutAfter" }, { kind: "late" }];

export const lostAnswer: Check = {
  name: "lost_answer",
  title: "Lost answer",
  sentence:
    "A write whose answer is lost, before its effect, after it, or with a late delivery, is settled as its manifest says, and never reported undone while it stands.",
  applies: ({ tools }) => tools.some(({ writes }) => writes) || because("no tool writes"),
  concerns: ({ manifest: { effect } }) => effect !== "read_only" && effect !== "idempotent",
  after: ["forward_success", "retry", "compensation_success", "verification_failure"],
  async verify(bench) {
    const { tool, facts, all, clean, risk } = bench;
    const cases: Case[] = tool.undo ? [ends("after the write"), ends("after the checkpoint")] : [];
    if (!settles(tool)) risk(`${tool.name}: when an answer is lost, a person has to look what became of it.`);
    if (tool.landed) cases.push(evidenceOfSuccess(bench));
    if (facts.network) {
      const spots = spotsOf((await clean()).sent).filter(({ request }) => request.writes);
      for (const spot of spots) {
        cases.push(...losing.map((fault) => lost(fault, spot)));
        if (tool.landed) cases.push(evidence(bench, { kind: "cutBefore" }, spot, false));
      }
      const last = spots.at(-1);
      if (tool.landed && last) cases.push(evidence(bench, { kind: "cutAfter" }, last, true));
    }
    await all(cases);
  },
};
