import type { Bench, Case } from "../bench.ts";
import type { Check } from "../check.ts";
import { because, type ToolFacts } from "../facts.ts";
import { ended, told } from "../outcome.ts";
import { misfit } from "../schema.ts";
import { difference } from "../states.ts";
import type { Backend, Plan } from "../subject.ts";
import { argumentsOf } from "../world.ts";

/** What the manifest names as the undo is a tool that can undo, and takes what the map yields. */
function registered({ manifest, undo, name }: ToolFacts): string | undefined {
  const { compensation } = manifest;
  if (!compensation) return undefined;
  if (!undo) return `${name} names ${compensation.tool}, which is no tool of the connector`;
  if (undo.effect !== "idempotent") return `${undo.tool} is ${undo.effect}, and an undo must be idempotent`;
  const known = Object.keys(undo.input_schema.properties ?? {});
  const unknown = Object.keys(compensation.argument_map).filter((argument) => !known.includes(argument));
  return unknown.length === 0 ? undefined : `${undo.tool} does not take ${unknown.join(", ")}`;
}

/** One step, undone once: everything is as it was, one undo was sent, and it fits. */
const undone = (tool: ToolFacts, plan: Plan<Backend>): Case => ({
  name: plan.title ?? "one step",
  plan,
  async verify(world) {
    const run = await world.run();
    await run.call(tool.name, world.args);
    const report = await run.rollback();
    const wrong = await world.unrestored();
    if (wrong !== undefined) return `the report says ${report.status}, and not all is as it was: ${wrong}`;
    if (report.status !== "complete") return `not complete: ${JSON.stringify(report.groups)}`;
    const [undo, ...more] = run.undos;
    if (!undo || undo.tool !== tool.undo?.tool) return `${undo?.tool ?? "nothing"} was sent to undo it`;
    if (more.length > 0) return `the undo was sent ${run.undos.length} times`;
    const misfits = misfit(tool.undo.input_schema, undo.args, "what the map yields");
    if (misfits !== undefined) return misfits;
    await run.rollback();
    return run.undos.length > 1 ? "a second rollback undid what was undone already" : world.unrestored();
  },
});

/** The undo itself, a second and a third time: it succeeds and changes nothing. */
const undoneAgain: Case = {
  name: "the undo a second time",
  async verify(world) {
    const { tool, connector, args } = world;
    const run = await world.run();
    await run.call(tool.name, args);
    await run.rollback();
    const before = await world.state();
    for (const undo of run.undos.slice(0, 1)) {
      const outcome = await ended(Promise.resolve(connector.tools[undo.tool]?.(undo.args)));
      if ("error" in outcome) return `it must succeed, and ${told(outcome)}`;
    }
    const change = difference(before, await world.state());
    return change === undefined ? undefined : `it had an effect: ${change}`;
  },
};

/** Somebody else put everything back before the rollback: that is no conflict. */
const undoneBefore: Case = {
  name: "undone by hand before the rollback",
  async verify(world) {
    const { tool, connector, args } = world;
    const run = await world.run();
    const { undo } = await run.call(tool.name, args);
    if (!undo) return "the call succeeded, and nothing would undo it";
    await connector.tools[undo.tool]?.(undo.args);
    const { status, groups } = await run.rollback();
    const wrong = await world.unrestored();
    if (wrong !== undefined) return wrong;
    return status === "complete"
      ? undefined
      : `nothing stands any more, and the report says ${JSON.stringify(groups)}`;
  },
};

/** All plans, and the first once more, on one backend in one run: steps on one object never get into each other's way. */
const several = ({ tool }: Bench): Case => ({
  name: "several steps in one run",
  async verify(world) {
    const { arranging, plan } = world;
    const steps = [world.args];
    for (const other of [...tool.plans.filter((each) => each !== plan), plan]) {
      steps.push(other === plan ? world.args : await argumentsOf(other.args, arranging));
    }
    const before = await world.state();
    const run = await world.run();
    for (const args of steps) {
      const outcome = await ended(run.call(tool.name, args));
      // The backend may refuse a second step of the kind; then nothing of it stands.
      if ("error" in outcome && (outcome.error as { mayHaveApplied?: unknown }).mayHaveApplied !== false) {
        return `a step ended without a clear word: ${told(outcome)}`;
      }
    }
    const { status, groups } = await run.rollback();
    const wrong = await world.unrestored({ before });
    if (groups.conflict)
      return `a conflict, and nobody else changed anything: ${groups.conflict[0]?.message}`;
    if (wrong !== undefined) return `the report says ${status}, and not all is as it was: ${wrong}`;
    return status === "complete" ? undefined : `not complete: ${JSON.stringify(groups)}`;
  },
});

export const compensationSuccess: Check = {
  name: "compensation_success",
  title: "Compensation success",
  sentence:
    "A real engine rolls the step back, and the backend is as it was before, documented residue aside; the undo is a registered idempotent tool that takes exactly what the manifest maps.",
  applies: ({ tools }) =>
    tools.some(({ manifest }) => manifest.compensation) || because("no tool declares a compensation"),
  concerns: ({ manifest }) => manifest.compensation !== undefined,
  after: ["forward_success"],
  async verify(bench) {
    const { tool, all, fail } = bench;
    const wrong = registered(tool);
    if (wrong !== undefined) return fail("the manifest", wrong);
    await all([...tool.plans.map((plan) => undone(tool, plan)), several(bench)]);
    await all([undoneAgain, undoneBefore]);
  },
};
