import { EffectUncertainError } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import { agrees, faulted, type Spot, spotsOf, worksAgain, wrongWord } from "../cases.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import type { Fault } from "../fault.ts";
import { type Ended, told } from "../outcome.ts";
import type { World } from "../world.ts";

/** A write that was sent is never sent again by the connector itself, except under the vendor's own key. */
function repeated({ tool, sent }: World, { skip, request }: Spot): string | undefined {
  if (!request.writes) return undefined;
  const { header = "" } = tool.manifest.guarantees?.idempotency ?? {};
  const [lost, ...later] = sent().slice(skip);
  const name = header.toLowerCase();
  const again = later.find(
    (other) =>
      other.writes &&
      other.line === lost?.line &&
      (name === "" || other.headers[name] === undefined || other.headers[name] !== lost.headers[name]),
  );
  return again && `${again.line} was sent a second time, though nobody knew what became of the first`;
}

/** An answer that proves nothing: for a write the outcome is unknown, unless the effect is shown to be there. */
const lossOf = (fault: Fault): boolean =>
  ["cutBefore", "cutAfter", "cutBody", "garbage"].includes(fault.kind);

async function judge(bench: Bench, fault: Fault, spot: Spot, world: World, outcome: Ended) {
  const { tool } = world;
  const { request, afterWrite } = spot;
  const sent = fault.kind !== "unreachable" && fault.kind !== "refuse";
  const mayHaveWritten = tool.writes && (afterWrite || (request.writes && sent));
  const wrong = repeated(world, spot) ?? wrongWord(outcome, mayHaveWritten, tool.writes);
  if (wrong !== undefined) return wrong;
  const isLoss = lossOf(fault);
  if ("error" in outcome) {
    if (isLoss && mayHaveWritten && !afterWrite && !EffectUncertainError.is(outcome.error)) {
      return `a lost answer to a write must be an EffectUncertainError, and was ${told(outcome)}`;
    }
    const named = fault.kind !== "serverError" || String(outcome.error).includes(fault.status);
    return named ? undefined : `the error does not name ${fault.status}: ${told(outcome)}`;
  }
  if (fault.kind === "serverError")
    return `a breakdown of the backend must be an error, and ${told(outcome)}`;
  if (fault.kind === "unreachable") return `nothing was reached, and ${told(outcome)}`;
  if (request.writes && fault.kind === "cutBefore") return `nothing took effect, and ${told(outcome)}`;
  if (request.writes && fault.kind === "cutAfter") return `the answer never came, and ${told(outcome)}`;
  return agrees(bench, world, outcome.value);
}

const withoutEffect = (fault: Fault): boolean =>
  fault.kind === "unreachable" ||
  fault.kind === "cutBefore" ||
  (fault.kind === "serverError" && !fault.effect);

function* losses(bench: Bench, spots: readonly Spot[], breakdowns: readonly string[]): Generator<Case> {
  const faults: Fault[] = [
    { kind: "unreachable" },
    { kind: "cutBefore" },
    { kind: "cutAfter" },
    { kind: "cutBody" },
    { kind: "garbage", body: "<!doctype html><p>It works!</p>" },
    { kind: "garbage", body: "{}" },
    ...breakdowns.flatMap((status): Fault[] => [
      { kind: "serverError", status, effect: false },
      { kind: "serverError", status, effect: true },
    ]),
  ];
  for (const spot of spots) {
    for (const fault of faults) {
      if (fault.kind === "unreachable" && spot.request.connected) continue;
      yield faulted(fault, spot, async (world, outcome) => {
        const wrong = await judge(bench, fault, spot, world, outcome);
        if (wrong !== undefined) return wrong;
        const clear = "error" in outcome && withoutEffect(fault) && !spot.afterWrite;
        if (!clear) return undefined;
        const change = await world.changed();
        if (change !== undefined) return `nothing took effect at the backend, and yet it changed: ${change}`;
        return worksAgain(world, await bench.clean());
      });
    }
  }
}

export const retry: Check = {
  name: "retry",
  title: "Retry",
  sentence:
    "A lost or useless answer to a write is EffectUncertainError, a breakdown is an error naming the status, what was never sent is plainly not done, no write is repeated, and the call works again afterwards.",
  applies: ({ network }) =>
    network || because("there is no network between connector and backend that could fail for a moment"),
  after: ["forward_success"],
  async verify(bench) {
    const { sent } = await bench.clean();
    await bench.all(losses(bench, spotsOf(sent), bench.facts.statuses.serverError));
  },
};
