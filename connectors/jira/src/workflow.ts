import { ConnectorError, InvalidArgumentsError } from "@reversi-connector/core";
import { type HttpClient, type HttpReader, path } from "@reversi-connector/http";
import { isEmpty } from "./client.ts";
import type { Status } from "./objects.ts";

export interface Transition {
  readonly id: string;
  readonly name: string;
  readonly to: Status;
  readonly fields?: Readonly<
    Record<string, { readonly required: boolean; readonly hasDefaultValue?: boolean }>
  >;
}

const transitionsPath = (issue: string) => path`/issue/${issue}/transitions`;
const isTransition = ({ id, name, to }: Partial<Transition>) =>
  [id, name, to?.id, to?.name].every((value) => typeof value === "string");

/** The transitions that the account may run on an issue now. */
export async function readTransitions(client: HttpReader, issue: string): Promise<readonly Transition[]> {
  const { body } = await client.read<{ readonly transitions: readonly Transition[] }>({
    path: transitionsPath(issue),
    query: { expand: "transitions.fields" },
    expect: ({ transitions }: { transitions?: unknown }) =>
      Array.isArray(transitions) && transitions.every(isTransition),
  });
  return body.transitions;
}

/** Runs a transition. Jira refuses one that is no longer possible, and with 409 one that meets another change. */
export async function runTransition(client: HttpClient, issue: string, { id }: Transition): Promise<void> {
  await client.write({
    method: "POST",
    path: transitionsPath(issue),
    json: { transition: { id } },
    expect: isEmpty,
  });
}

const inWords = ({ id, name, to }: Transition) => `${id} (${name}, to ${to.name})`;
const listed = (transitions: readonly Transition[]) =>
  transitions.map(inWords).join(", ") || "none that this account may run";

/**
 * The transition that is meant: by its id, else by its name, else by the name of the status that it leads to.
 * @throws InvalidArgumentsError listing the ids where several are meant; ConnectorError where none is
 */
export function chosen(transitions: readonly Transition[], wanted: string): Transition {
  const same = (name: string) => name.toLowerCase() === wanted.toLowerCase();
  const ways: ((transition: Transition) => boolean)[] = [
    ({ id }) => id === wanted,
    ({ name }) => same(name),
    ({ to }) => same(to.name),
  ];
  const meant = ways.map((way) => transitions.filter(way)).find((found) => found.length > 0) ?? [];
  const [only, ...others] = meant;
  if (!only) {
    throw new ConnectorError(
      `no transition "${wanted}" leads on from here; there are: ${listed(transitions)}. Nothing was changed.`,
    );
  }
  if (others.length === 0) return only;
  const rule = `is ambiguous: give the id of one of ${listed(meant)}`;
  throw new InvalidArgumentsError(`transition ${rule}. Nothing was changed.`, {
    problems: [{ at: "transition", rule }],
  });
}

const asksForFields = ({ fields = {} }: Transition) =>
  Object.values(fields).some(({ required, hasDefaultValue }) => required && !hasDefaultValue);

/**
 * A transition that leads to a status, by its id, for names repeat: one that asks for nothing, where there is one.
 * @throws ConnectorError where none leads there
 */
export function leadingTo(transitions: readonly Transition[], id: string, name = "the status"): Transition {
  const there = transitions.filter(({ to }) => to.id === id);
  const best = there.find((transition) => !asksForFields(transition)) ?? there[0];
  if (best) return best;
  throw new ConnectorError(
    `no transition leads back to ${name} (${id}); there are: ${listed(transitions)}. Nothing was changed.`,
  );
}
