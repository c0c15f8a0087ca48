import { EffectUncertainError } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import { agrees, nameOf, type Spot, spotsOf, wrongWord } from "../cases.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import type { Fault } from "../fault.ts";
import { type Ended, ended, told } from "../outcome.ts";
import type { World } from "../world.ts";

/** The connector's own limit here, and how much later than that a call may end on a busy machine. */
const limitMs = 120;
const toleranceMs = 2_500;

async function bounded(call: Promise<unknown>, ms: number): Promise<Ended | "endless"> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<"endless">((resolve) => {
    timer = setTimeout(() => resolve("endless"), ms + toleranceMs);
  });
  try {
    return await Promise.race([ended(call), over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a request met the fault before the connector's time was over. */
const met = ({ sent }: World, { skip }: Spot) => sent().length > skip;

function judged(spot: Spot, { tool }: World, outcome: Ended | "endless"): string | undefined {
  if (outcome === "endless") return "the call does not end";
  const { request, afterWrite } = spot;
  if ("value" in outcome) return `no answer came, and ${told(outcome)}`;
  const uncertain = tool.writes && request.writes;
  if (uncertain && !EffectUncertainError.is(outcome.error)) {
    return `a write without an answer must be an EffectUncertainError, and was ${told(outcome)}`;
  }
  return wrongWord(outcome, tool.writes && (request.writes || afterWrite), tool.writes);
}

/** One request without an answer; on a machine so busy that the call never got there, once more with more time. */
const silent = (bench: Bench, fault: Fault, spot: Spot): Case => ({
  name: nameOf(fault, spot),
  timeoutMs: limitMs,
  async verify(world) {
    let wrong: string | undefined;
    const attempt = async (own: World, ms: number) => {
      own.wire.inject(fault, spot.skip);
      const outcome = await bounded(own.call(), ms);
      const spared = own.sent()[spot.skip]?.answered === true;
      const agreed = spared && outcome !== "endless" && "value" in outcome;
      wrong = agreed ? await agrees(bench, own, outcome.value) : judged(spot, own, outcome);
      // After a whole answer it was the call that ran out of time.
      return met(own, spot) && (agreed || !spared);
    };
    if (await attempt(world, limitMs)) return wrong;
    const slowly = limitMs * 20;
    await bench.world({ timeoutMs: slowly }, (again) => attempt(again, slowly));
    return wrong;
  },
});

/** Whoever calls may give up: what was sent by then is as unknown as after a timeout. */
const cancelled = (spot: Spot): Case => ({
  name: `given up by the caller, at request ${spot.skip + 1} (${spot.request.line})`,
  async verify(world) {
    const { wire } = world;
    const giveUp = new AbortController();
    wire.before(spot.skip, () => giveUp.abort());
    wire.inject({ kind: "hang", effect: false }, spot.skip);
    return judged(spot, world, await bounded(world.call({ signal: giveUp.signal }), limitMs));
  },
});

export const timeout: Check = {
  name: "timeout",
  title: "Timeout",
  sentence:
    "A backend that never answers, at any request of a call, ends in EffectUncertainError for a write and in a plain error for a read, in time.",
  applies: ({ network }) => network || because("there is no network to wait for"),
  after: ["forward_success"],
  async verify(bench) {
    const { sent } = await bench.clean();
    const faults: readonly Fault[] = [
      { kind: "hang", effect: false },
      { kind: "hang", effect: true },
      { kind: "stall" },
    ];
    const cases = spotsOf(sent).flatMap((spot) => [
      ...faults.map((fault) => silent(bench, fault, spot)),
      cancelled(spot),
    ]);
    await bench.all(cases);
  },
};
