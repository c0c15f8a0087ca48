import type { Case } from "../bench.ts";
import type { Check } from "../check.ts";
import type { ToolFacts } from "../facts.ts";
import { badArguments, misfit, validatorOf } from "../schema.ts";
import type { Backend, Plan } from "../subject.ts";
import type { World } from "../world.ts";

/** Whether the call did what tools of its kind do. */
async function judged({ tool, plan, args, backend, changed, sent }: World, result: unknown) {
  await plan.expect?.({ args, result }, backend);
  const change = await changed();
  const written = sent().find(({ writes }) => writes);
  if (!tool.writes && change !== undefined) return `a read changed the backend: ${change}`;
  if (!tool.writes && written) return `a read sent a write: ${written.line}`;
  if (tool.writes && change === undefined) return "the call succeeded, and the backend is as it was before";
  return undefined;
}

const good = (tool: ToolFacts, plan: Plan<Backend>): Case => ({
  name: plan.title ?? "a good call",
  plan,
  async verify(world) {
    const { args } = world;
    const wrong = misfit(tool.input, args, "the arguments") ?? undefined;
    if (wrong !== undefined) return wrong;
    const result = await world.call();
    return misfit(tool.output, result, "the result") ?? judged(world, result);
  },
});

export const forwardSuccess: Check = {
  name: "forward_success",
  title: "Forward success",
  sentence:
    "Every tool does its job, with a result that fits its schema; a read changes nothing and sends no write.",
  applies: () => true,
  after: [],
  async verify({ tool, all, check, fail, clean }) {
    if (tool.plans.length === 0) return fail("a good call", `the subject gives no call of ${tool.name}`);
    await all(tool.plans.map((plan) => good(tool, plan)));
    check("its schemas", () => {
      validatorOf(tool.input);
      validatorOf(tool.output);
      return undefined;
    });
    const { args } = await clean();
    for (const [what, bad] of badArguments(tool.input, args)) {
      check(`arguments ${what}`, () => {
        const wrong = misfit(tool.input, bad, "the arguments");
        return wrong !== undefined && / accepts it$/.test(wrong) ? wrong : undefined;
      });
    }
  },
};
