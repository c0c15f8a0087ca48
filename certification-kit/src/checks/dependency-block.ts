import { ConnectorError, type Manifest } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import { valueAt } from "../cases.ts";
import type { Check } from "../check.ts";
import { because, type ToolFacts } from "../facts.ts";
import { deepFreeze } from "../states.ts";
import type { Backend, Made, Plan } from "../subject.ts";
import { argumentsOf, type World } from "../world.ts";
import { completed } from "./compensation-failure.ts";

type Edge = NonNullable<Manifest["requires"]>[number];

/** The later step's own arguments, with what the manifest matches taken from the earlier step. */
function matched({ match }: Edge, own: object, earlier: Made) {
  const args: Record<string, unknown> = { ...own };
  for (const [name, source] of Object.entries(match)) {
    const value = valueAt(typeof source === "string" ? source : source.overlaps, earlier);
    args[name] = Array.isArray(value) ? value[0] : value;
  }
  return deepFreeze(args);
}

/** An edge as subjects name it: `notes.move: path = args.from`. */
const nameOf = ({ tool, match }: Edge): string => {
  const by = Object.entries(match).map(
    ([own, source]) => `${own} = ${typeof source === "string" ? source : source.overlaps}`,
  );
  return `${tool}: ${by.join(", ")}`;
};
const afterOf = ({ after }: Plan<Backend>, edge: Edge) => after?.[nameOf(edge)] ?? after?.[edge.tool];

async function laterArguments({ args, plan, arranging }: World, edge: Edge, made: Made) {
  const after = afterOf(plan, edge);
  if (typeof after !== "function") return matched(edge, args, made);
  return argumentsOf(await after(made, arranging), arranging);
}

/** While the later step stands, the earlier one is left alone; once it is undone, so is the earlier one. */
const blocked = ({ tool }: Bench, edge: Edge, earlier: ToolFacts): Case => ({
  name: `${nameOf(edge)} waits for ${tool.name}`,
  async verify(world) {
    const { arranging } = world;
    const args = await argumentsOf(earlier.plans[0]?.args ?? {}, arranging);
    const before = await world.state();
    const run = await world.run();
    const { result, step } = await run.call(earlier.name, args);
    const { step: later } = await run.call(tool.name, await laterArguments(world, edge, { args, result }));
    const reached: string[] = [];
    const { groups } = await run.rollback({
      compensate: async (call: { readonly tool: string }) => {
        reached.push(call.tool);
        throw new ConnectorError("the later step cannot be undone for now", { mayHaveApplied: false });
      },
      holds: async () => false,
    });
    const waits = groups.deferred?.find((deferred) => deferred.step === step);
    if (!waits?.waits_for?.includes(later)) {
      return `${edge.tool} did not wait for ${tool.name}: ${reached.join(", ")} were sent`;
    }
    if (!tool.undo) return undefined;
    return completed({ unrestored: () => world.unrestored({ before }) }, await run.rollback());
  },
});

const edgesOf = ({ manifest }: ToolFacts) => manifest.requires ?? [];

export const dependencyBlock: Check = {
  name: "dependency_block",
  title: "Dependency block",
  sentence: "Rolling back while a later step stands that required an earlier one defers the earlier one.",
  applies: ({ tools }) =>
    tools.some((tool) => edgesOf(tool).length > 0) || because("no tool manifest declares `requires`"),
  concerns: (tool) => edgesOf(tool).length > 0,
  after: ["forward_success", "compensation_success"],
  async verify(bench) {
    const { tool, plan, facts, all, fail, risk } = bench;
    const cases: Case[] = [];
    for (const edge of edgesOf(tool)) {
      const earlier = facts.tools.find(({ name }) => name === edge.tool);
      if (!earlier) fail("the manifest", `it requires ${edge.tool}, which is no tool of the connector`);
      const after = afterOf(plan, edge);
      if (typeof after === "string") risk(`${tool.name} after ${nameOf(edge)} was not tried: ${after}`);
      else if (earlier?.undo) cases.push(blocked(bench, edge, earlier));
    }
    await all(cases);
  },
};
