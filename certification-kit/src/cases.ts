import { EffectUncertainError } from "@reversi-connector/core";
import type { Bench, Case, Clean } from "./bench.ts";
import type { Fault, SentRequest } from "./fault.ts";
import { type Ended, ended, told } from "./outcome.ts";
import { difference, timeless } from "./states.ts";
import type { World } from "./world.ts";

/** One request of a clean run, at which a fault can happen. */
export interface Spot {
  /** How many requests go well first. */
  readonly skip: number;
  readonly request: SentRequest;
  /** An earlier request of the same call wrote already. */
  readonly afterWrite: boolean;
}

/** Every request that a call makes: reads before the write, the backup, the write itself, the verifying read. */
export const spotsOf = (sent: readonly SentRequest[]): Spot[] =>
  sent.map((request, skip) => ({
    skip,
    request,
    afterWrite: sent.slice(0, skip).some(({ writes }) => writes),
  }));

const words: Readonly<Record<Fault["kind"], string>> = {
  unreachable: "unreachable",
  refuse: "refused",
  deny: "denied",
  cutBefore: "cut before the effect",
  cutAfter: "cut after the effect",
  late: "lost, and delivered late",
  hang: "no answer",
  stall: "an answer that stops",
  serverError: "a breakdown of the backend",
  cutBody: "an answer cut half way",
  garbage: "a success without what it must carry",
  rateLimit: "a rate limit",
  echo: "an echo",
};

/** A fault in words: `cut after the effect, at request 2 (POST /items)`. */
export function nameOf(fault: Fault, { skip, request }: Spot): string {
  const detail = [
    "status" in fault ? fault.status : undefined,
    "effect" in fault && fault.effect ? "after the effect" : undefined,
    "as" in fault ? fault.as : undefined,
  ].filter((part) => part !== undefined);
  return `${words[fault.kind]}${detail.length > 0 ? ` (${detail.join(", ")})` : ""}, at request ${skip + 1} (${request.line})`;
}

/** The call with one fault at one of its requests; what is wrong with how it ended. */
export const faulted = (
  fault: Fault,
  spot: Spot,
  judge: (world: World, outcome: Ended) => Promise<string | undefined> | string | undefined,
): Case => ({
  name: nameOf(fault, spot),
  async verify(world) {
    world.wire.inject(fault, spot.skip);
    return judge(world, await ended(world.call()));
  },
});

/** The same call again, now that nothing goes wrong. */
export async function worksAgain(world: World, { after, repeatable }: Clean): Promise<string | undefined> {
  await world.wire.clear();
  const again = await ended(world.call());
  if ("error" in again) return `after the fault the same call fails: ${told(again)}`;
  if (!repeatable) return undefined;
  const wrong = difference(after, await world.state());
  return wrong === undefined ? undefined : `after the fault the same call leaves another state: ${wrong}`;
}

/** Neither an error that claims an effect nobody can have had, nor one that hides a possible one. */
export function wrongWord(outcome: Ended, mayHaveWritten: boolean, writes: boolean): string | undefined {
  if (!("error" in outcome)) return undefined;
  const { error } = outcome;
  const says =
    EffectUncertainError.is(error) || (error as { mayHaveApplied?: unknown }).mayHaveApplied === true;
  if (says && !writes) return `a read is never uncertain: ${told(outcome)}`;
  if (says && !mayHaveWritten)
    return `nothing was written, and the error says it may have been: ${told(outcome)}`;
  if (!says && mayHaveWritten)
    return `it may have been written, and the error says it was not: ${told(outcome)}`;
  return undefined;
}

/** The value at a dotted path such as `result.previous.title`. */
export const valueAt = (path: string, from: object): unknown =>
  path
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], from);

/** Where ids are random, only the undo can tell whether a result names what was really made. */
async function undoable(world: World, result: unknown): Promise<string | undefined> {
  const { tool, args, connector } = world;
  const { compensation } = tool.manifest;
  if (!compensation) return undefined;
  const mapped = Object.entries(compensation.argument_map)
    .map(([name, source]) => [
      name,
      typeof source === "string" ? valueAt(source, { args, result }) : source.const,
    ])
    .filter(([, value]) => value !== undefined);
  await world.wire.clear();
  const undone = await ended(
    Promise.resolve(connector.tools[compensation.tool]?.(Object.fromEntries(mapped))),
  );
  return "error" in undone ? `its undo fails: ${told(undone)}` : world.unrestored();
}

/** A call that succeeded in spite of a fault did exactly what it does without one. */
export async function agrees({ clean }: Bench, world: World, answer: unknown): Promise<string | undefined> {
  const { after, result, repeatable, sameResult } = await clean();
  const wrong =
    (repeatable ? difference(after, await world.state()) : undefined) ??
    (sameResult
      ? difference(timeless(result), timeless(answer), "the result")
      : await undoable(world, answer));
  return wrong && `the call succeeded in spite of the fault, and not as it does without: ${wrong}`;
}
