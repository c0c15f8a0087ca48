import { InvalidArgumentsError } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import { faulted, type Spot, spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { type Ended, ended, notRefused, told } from "../outcome.ts";
import { badArguments, misfit } from "../schema.ts";
import { searcherFor, textsOf } from "../secrets.ts";
import { argumentsOf, type World } from "../world.ts";

/** A backend that was told no such thing is as it was; a call of several writes may have done the first ones. */
async function untouched({ changed }: World, { afterWrite }: Pick<Spot, "afterWrite">) {
  const change = afterWrite ? undefined : await changed();
  return change === undefined ? undefined : `the call failed, and the backend changed: ${change}`;
}

/** Without the credential, whatever it says. */
export function revealed({ subject: { credential } }: Bench, outcome: Ended): string | undefined {
  if (!credential || !("error" in outcome)) return undefined;
  const found = searcherFor(credential)(textsOf(outcome.error));
  return found === undefined ? undefined : "the error carries the credential";
}

function* refusals(bench: Bench, spots: readonly Spot[], statuses: readonly string[]): Generator<Case> {
  for (const spot of spots) {
    for (const status of statuses) {
      yield faulted({ kind: "refuse", status }, spot, async (world, outcome) => {
        // After an earlier write of the same call "not done" would be no truth either.
        const wrong = spot.afterWrite ? undefined : notRefused(outcome, status);
        const silent = "value" in outcome ? `it must be an error, and ${told(outcome)}` : undefined;
        return wrong ?? silent ?? revealed(bench, outcome) ?? untouched(world, spot);
      });
    }
    yield faulted({ kind: "rateLimit" }, spot, async (world, outcome) => {
      const wrong = spot.afterWrite ? undefined : notRefused(outcome);
      return wrong ?? revealed(bench, outcome) ?? untouched(world, spot);
    });
  }
}

/** A call that the backend refuses for a reason of its own. */
const refusedPlan = (bench: Bench): Case => ({
  name: "a call that the backend refuses",
  async verify(world) {
    const { plan, tool, connector, arranging, state } = world;
    const args = await argumentsOf(plan.refused ?? {}, arranging);
    const before = JSON.stringify(await state());
    const outcome = await ended(Promise.resolve(connector.tools[tool.name]?.(args)));
    const wrong = notRefused(outcome) ?? revealed(bench, outcome);
    if (wrong !== undefined) return wrong;
    return JSON.stringify(await state()) === before ? undefined : "the call failed, and the backend changed";
  },
});

/** Arguments that the schema forbids never reach the backend. */
const refusedArguments: Case = {
  name: "arguments that the schema forbids",
  async verify({ tool, args, connector, sent, changed }) {
    for (const [what, bad] of badArguments(tool.input, args)) {
      if (misfit(tool.input, bad, "arguments") === undefined) continue;
      const outcome = await ended(Promise.resolve(connector.tools[tool.name]?.(bad)));
      if (!("error" in outcome) || !InvalidArgumentsError.is(outcome.error)) {
        return `a call ${what} must be an InvalidArgumentsError, and ${told(outcome)}`;
      }
      const [first] = sent();
      if (first) return `a call ${what} was refused, and yet it sent ${first.line}`;
    }
    const change = await changed();
    return change === undefined ? undefined : `refused calls changed the backend: ${change}`;
  },
};

export const forwardFailure: Check = {
  name: "forward_failure",
  title: "Forward failure",
  sentence:
    "A call that the backend rejects, at any of its requests, is an error naming the status, without the credential; the backend is unchanged.",
  applies: () => true,
  after: ["forward_success"],
  async verify(bench) {
    const { tool, plan, facts, fail, all, clean } = bench;
    const cases: Case[] = [refusedArguments];
    if (plan.refused) cases.push(refusedPlan(bench));
    else if (!facts.network)
      fail("a call that the backend refuses", `the subject gives none for ${tool.name}`);
    if (facts.network) {
      const { sent } = await clean();
      cases.push(...refusals(bench, spotsOf(sent), facts.statuses.refuse));
    }
    await all(cases);
  },
};
