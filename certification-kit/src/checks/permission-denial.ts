import { ConnectorError } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import { faulted, type Spot, spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import { ended, notRefused, told } from "../outcome.ts";
import { same } from "../states.ts";
import type { World } from "../world.ts";
import { revealed } from "./forward-failure.ts";

/** A read that a write can do without: its effect, the whole of it, is there all the same. */
async function didWithout({ clean }: Bench, { request }: Spot, { state }: World): Promise<boolean> {
  const { before, after, repeatable } = await clean();
  return !request.writes && repeatable && !same(before, after) && same(await state(), after);
}

function* denials(bench: Bench, spots: readonly Spot[], statuses: readonly string[]): Generator<Case> {
  for (const spot of spots) {
    for (const status of statuses) {
      yield faulted({ kind: "deny", status }, spot, async (world, outcome) => {
        const { changed } = world;
        if ("value" in outcome) {
          return (await didWithout(bench, spot, world))
            ? undefined
            : `it must be an error, and ${told(outcome)}`;
        }
        const wrong = spot.afterWrite ? undefined : notRefused(outcome, status);
        const change = spot.afterWrite ? undefined : await changed();
        return wrong ?? revealed(bench, outcome) ?? change;
      });
    }
  }
}

/** The sandbox really checks: whatever is not the credential is refused, and the refusal told. */
const wrongCredential = (bench: Bench, credential: string): Case => ({
  name: "a credential that the backend does not know",
  credential: `${credential.slice(0, -4)}${[...credential.slice(-4)].reverse().join("")}0`,
  async verify(world) {
    const outcome = await ended(world.call());
    if ("value" in outcome) return `the backend let it pass: ${told(outcome)}`;
    const { error } = outcome;
    const { deny } = bench.facts.statuses;
    const named = deny.some((status) => String(error).includes(status));
    if (!ConnectorError.is(error) || !named)
      return `the error names none of ${deny.join(", ")}: ${told(outcome)}`;
    return (await world.changed()) ?? revealed(bench, outcome);
  },
});

/**
 * Lost access looks like absence at many backends. From no request on may a tool take the one for the other: neither
 * as success of its own, nor as a goal that holds.
 */
const lostAccess = (bench: Bench): Case => ({
  name: "access lost before the call",
  async verify(world) {
    const { backend, connector, tool, args } = world;
    await bench.subject.permit?.(backend, "none");
    const holds = await ended(Promise.resolve(connector.holds[tool.name]?.(args)));
    if ("value" in holds && holds.value === true) return "holds says true of what nobody can see";
    const outcome = await ended(world.call());
    if ("value" in outcome) return `nothing can be seen any more, and ${told(outcome)}`;
    return notRefused(outcome) ?? revealed(bench, outcome) ?? world.changed();
  },
});

const lostOnTheWay = (bench: Bench, { skip, request, afterWrite }: Spot): Case => ({
  name: `access lost at request ${skip + 1} (${request.line})`,
  async verify(world) {
    const { wire, backend } = world;
    wire.before(skip, () => bench.subject.permit?.(backend, "none"));
    const outcome = await ended(world.call());
    if ("value" in outcome) return `nothing could be seen any more, and ${told(outcome)}`;
    return afterWrite ? undefined : notRefused(outcome);
  },
});

/** With the listed permissions alone undos still happen, whether or not they can be read back. */
const listedOnly = (bench: Bench): Case => ({
  name: "with the listed permissions alone",
  async verify(world) {
    const { backend, tool, args, unrestored } = world;
    await bench.subject.permit?.(backend, "listed");
    const run = await world.run();
    await run.call(tool.name, args);
    const { status, counts, groups } = await run.rollback();
    const wrong = await unrestored();
    if (wrong !== undefined) return `the undo did not happen: ${wrong}`;
    const fine = status === "complete" || counts.compensated_unverified === 1;
    return fine ? undefined : `it was undone, and the report says ${JSON.stringify(groups)}`;
  },
});

export const permissionDenial: Check = {
  name: "permission_denial",
  title: "Permission denial",
  sentence:
    "A denied request, at any point of a call, is an error naming the status, without the credential, unless it was a read and the whole effect is there without it; lost access never passes for “already gone”; the listed permissions are enough to undo.",
  applies: ({ network, credential }) =>
    (network && credential) ||
    because("the connector has no credential: access is the operating system's to control"),
  after: ["forward_success", "compensation_success", "verification_failure"],
  async verify(bench) {
    const { subject, tool, facts, all, clean, risk } = bench;
    const { sent } = await clean();
    const spots = spotsOf(sent);
    const cases = [
      ...denials(bench, spots, facts.statuses.deny),
      wrongCredential(bench, subject.credential ?? ""),
    ];
    if (subject.permit) {
      cases.push(lostAccess(bench), ...spots.map((spot) => lostOnTheWay(bench, spot)));
      if (tool.undo) cases.push(listedOnly(bench));
    } else risk("The subject cannot take access away: lost access was tried by refusals alone.");
    await all(cases);
  },
};
