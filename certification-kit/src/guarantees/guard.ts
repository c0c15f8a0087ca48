import type { Bench, Case } from "../bench.ts";
import { spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { completed } from "../checks/compensation-failure.ts";
import { because, type ToolFacts } from "../facts.ts";
import { copyOf, difference } from "../states.ts";
import type { World } from "../world.ts";

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === "function";

const kindOf = ({ undo }: ToolFacts) => undo?.guarantees?.guard ?? "none";

async function refused(
  world: World,
  expected: unknown,
  report: { groups: object; counts: { conflict?: number } },
) {
  const overwritten = expected === undefined ? undefined : difference(expected, await world.state());
  if (overwritten !== undefined) return `somebody else's change did not survive: ${overwritten}`;
  return report.counts.conflict === 1
    ? undefined
    : `a conflict must be reported, and the report says ${JSON.stringify(report.groups)}`;
}

/** Somebody else's change between the call and the rollback. */
const editedBefore: Case = {
  name: "an edit by somebody else, between call and rollback",
  async verify(world) {
    const { tool, args, plan, backend } = world;
    const run = await world.run();
    const { result } = await run.call(tool.name, args);
    await plan.edit?.(backend, { args, result });
    const edited = await world.state();
    return refused(world, edited, await run.rollback());
  },
};

/** Somebody else's change after the undo has looked, and before it writes. */
const editedBetween = (skip: number, line: string): Case => ({
  name: `an edit by somebody else, right before the undo's ${line}`,
  async verify(world) {
    const { wire, tool, args, plan, backend } = world;
    const run = await world.run();
    const { result } = await run.call(tool.name, args);
    const edits: unknown[] = [];
    const states: unknown[] = [];
    wire.before(skip, () => {
      const edit = plan.edit?.(backend, { args, result });
      edits.push(edit);
      // At once where the edit is made at once: the backend acts on the request right after this.
      states.push(isPromise(edit) ? edit.then(() => backend.state()) : backend.state());
      return Promise.all(states);
    });
    const report = await run.rollback();
    if (edits.length === 0) return "the undo sent no write";
    if ((await edits[0]) === false) return completed(world, report);
    return refused(world, copyOf(await states[0]), report);
  },
});

/** Only a person may overwrite, and only where the tool says that one may. */
const forced = ({ tool }: Bench): Case => ({
  name: "a person's word on the conflict",
  async verify(world) {
    const { args, plan, backend } = world;
    const run = await world.run();
    const { result } = await run.call(tool.name, args);
    await plan.edit?.(backend, { args, result });
    const edited = await world.state();
    const report = await run.rollback({ forceConflicts: true });
    const mayForce = tool.undo?.on_conflict?.includes("overwrite") === true;
    if (!mayForce) return refused(world, edited, report);
    return report.counts.conflict
      ? "the tool says that a person may force it, and refuses all the same"
      : undefined;
  },
});

export const guard: Check = {
  name: "guard",
  title: "Guard",
  sentence:
    "What somebody else changed survives the undo: between call and rollback, and, where the manifest says so, between the undo's read and its write.",
  applies: ({ tools }) => tools.some(({ undo }) => undo) || because("no tool declares a compensation"),
  concerns: ({ undo }) => undo !== undefined,
  after: ["forward_success", "compensation_success", "verification_failure"],
  async verify(bench) {
    const { tool, plan, facts, all, fail, risk, cleanUndo } = bench;
    if (kindOf(tool) === "none") {
      return risk(
        `${tool.name}: its undo has no guard; what somebody else changed meanwhile is not looked at.`,
      );
    }
    if (!plan.edit)
      return fail("an edit by somebody else", `the subject gives no edit of what ${tool.name} left`);
    const cases = [editedBefore, forced(bench)];
    const atServer = tool.undo?.guarantees?.guard_server_side === true;
    if (!atServer)
      risk(`${tool.name}: an edit in the moment between its undo's read and write is overwritten.`);
    if (atServer && facts.network) {
      const writes = spotsOf((await cleanUndo()).sent).filter(({ request }) => request.writes);
      cases.push(...writes.map(({ skip, request }) => editedBetween(skip, request.line)));
    }
    await all(cases);
  },
};
