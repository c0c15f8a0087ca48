import type { Bench, Case } from "../bench.ts";
import type { Check } from "../check.ts";
import { because, type ToolFacts } from "../facts.ts";
import { ended, told } from "../outcome.ts";
import type { World } from "../world.ts";

/** The caller's own check says no. */
const callerSaysNo: Case = {
  name: "the caller's check says no",
  async verify(world) {
    const run = await world.run();
    await run.call(world.tool.name, world.args);
    const { status, counts, groups } = await run.rollback({ verify: () => false });
    const failed = groups.compensation_failed?.[0]?.reason === "verification" && status === "incomplete";
    return failed && !counts.compensated ? undefined : `the report says ${JSON.stringify(groups)}`;
  },
};

/** The undo is answered with success on the way, and never arrives. */
const swallowed: Case = {
  name: "an undo that answers well and does nothing",
  async verify(world) {
    const { tool, args } = world;
    const run = await world.run();
    await run.call(tool.name, args);
    const { status, counts } = await run.rollback({ compensate: async () => ({}) });
    return status === "complete" || counts.compensated
      ? "nothing was undone, and the tool says that its goal holds"
      : undefined;
  },
};

/** What `holds` answers, and whether it really looked. */
async function looked({ connector, sent }: World, facts: Bench["facts"], undo: string, args: object) {
  const from = sent().length;
  const outcome = await ended(Promise.resolve(connector.holds[undo]?.(args)));
  const asked = sent().slice(from);
  const written = asked.find(({ writes }) => writes);
  if (written) return { wrong: `to look, it sent a write: ${written.line}` };
  if (facts.network && asked.length === 0) return { wrong: "it answered without looking at the backend" };
  return { outcome };
}

/** `holds` before and after its tool did its job: no, and then yes. */
const tellsApart = ({ facts, tool }: Bench): Case => ({
  name: "the goal before and after",
  async verify(world) {
    const { args, call } = world;
    const before = await looked(world, facts, tool.name, args);
    if (before.wrong !== undefined) return before.wrong;
    if (before.outcome && "value" in before.outcome && before.outcome.value === true) {
      return "it says that the goal holds, before anything was done for it";
    }
    await call();
    const after = await looked(world, facts, tool.name, args);
    if (after.wrong !== undefined) return after.wrong;
    const yes = after.outcome && "value" in after.outcome && after.outcome.value === true;
    return yes ? undefined : `the goal is reached, and ${after.outcome && told(after.outcome)}`;
  },
});

/** The same for what undoes a step: no while the step stands, and yes after the rollback. */
const looksAtUndo = ({ facts, tool }: Bench): Case => ({
  name: "the goal of the undo, before and after",
  async verify(world) {
    const run = await world.run();
    const { undo } = await run.call(tool.name, world.args);
    if (!undo) return "nothing would undo it";
    const before = await looked(world, facts, undo.tool, undo.args);
    if (before.wrong !== undefined) return before.wrong;
    if (before.outcome && "value" in before.outcome && before.outcome.value === true) {
      return "the step stands, and its undo says that the goal holds";
    }
    const { status } = await run.rollback();
    const after = await looked(world, facts, undo.tool, undo.args);
    const yes = after.outcome && "value" in after.outcome && after.outcome.value === true;
    if (after.wrong !== undefined || status !== "complete") return after.wrong;
    return yes ? undefined : `it is undone, and ${after.outcome && told(after.outcome)}`;
  },
});

/** A look that fails is no look. */
const blind = ({ tool, facts }: Bench): Case => ({
  name: "the goal while nobody can look",
  async verify({ wire, connector, args, call }) {
    await call();
    const [status = "500"] = facts.statuses.serverError;
    wire.inject({ kind: "serverError", status, effect: false }, 0, Number.POSITIVE_INFINITY);
    const outcome = await ended(Promise.resolve(connector.holds[tool.name]?.(args)));
    return "value" in outcome && outcome.value !== "unknown"
      ? `every look fails, and ${told(outcome)}`
      : undefined;
  },
});

const undoable = ({ manifest }: ToolFacts) => manifest.compensation !== undefined;

export const verificationFailure: Check = {
  name: "verification_failure",
  title: "Verification failure",
  sentence:
    "An undo that a check denies is reported as failed; whoever looks whether a goal holds really looks, with reads alone, and tells yes from no.",
  applies: ({ tools }) => tools.some(undoable) || because("no tool declares a compensation"),
  concerns: (tool) => undoable(tool) || tool.holds,
  after: ["forward_success", "compensation_success"],
  async verify(bench) {
    const { tool, facts, all, risk } = bench;
    const cases = undoable(tool) ? [callerSaysNo, swallowed, looksAtUndo(bench)] : [];
    if (tool.holds) cases.push(tellsApart(bench));
    if (tool.holds && facts.network) cases.push(blind(bench));
    if (undoable(tool) && !tool.undo) risk(`${tool.name}: nobody can look whether it was undone.`);
    await all(cases);
  },
};
