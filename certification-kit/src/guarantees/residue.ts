import type { Bench, Case } from "../bench.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import { same, withoutResidue } from "../states.ts";
import type { Backend, Plan } from "../subject.ts";

/** Before and after differ by the declared residue and by nothing else. */
const exactly = (
  { subject, tool }: Bench,
  plan: Plan<Backend>,
  ids: readonly string[],
  seen: Set<string>,
): Case => ({
  name: plan.title ?? "before and after",
  plan,
  async verify(world) {
    const run = await world.run();
    await run.call(tool.name, world.args);
    await run.rollback();
    const after = await world.state();
    for (const id of ids) {
      if (!same(after, withoutResidue(subject.residue, world.before, after, [id]))) seen.add(id);
    }
    const wrong = await world.unrestored({ ids });
    return wrong && `something is left that the manifest does not declare: ${wrong}`;
  },
});

export const residue: Check = {
  name: "residue",
  title: "Residue",
  sentence:
    "What is left after a rollback is the declared residue: nothing undeclared, nothing declared that no longer occurs.",
  applies: ({ tools }) => tools.some(({ undo }) => undo) || because("no tool declares a compensation"),
  concerns: ({ undo }) => undo !== undefined,
  after: ["forward_success", "compensation_success"],
  async verify(bench) {
    const { subject, tool, all, fail, risk } = bench;
    const ids = (tool.manifest.guarantees?.residue ?? []).map(({ id }) => id);
    const seen = new Set<string>();
    await all(tool.plans.map((plan) => exactly(bench, plan, ids, seen)));
    for (const id of ids) {
      const explains = subject.residue?.[id];
      if (explains === undefined)
        fail(id, "the manifest declares it, and the subject does not say what it explains");
      else if (typeof explains === "string")
        risk(`${tool.name} leaves ${id}, which no check sees: ${explains}`);
      else if (!seen.has(id)) fail(id, "the manifest declares it, and no call of the subject leaves it");
    }
  },
};
