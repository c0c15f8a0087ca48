import { ConnectorError, type Landed } from "@reversi-connector/core";
import type { HttpReader, Query } from "@reversi-connector/http";
import { marker } from "./keys.ts";
import type { Made } from "./objects.ts";

/** Up to a hundred objects each; who has more in so short a time gets "unknown". */
const maxPages = 50;
/** How far this host's clock may be from Stripe's, in seconds. */
const slack = 900;

interface List<Item> {
  readonly items: readonly Item[];
  readonly complete: boolean;
  /** Stripe's clock, in milliseconds since 1970; NaN when it was not told. */
  readonly at: number;
}

/** All objects of a list, newest first, as far as they fit. */
export async function readAll<Item extends Pick<Made, "id">>(
  client: HttpReader,
  path: string,
  query: Query,
): Promise<List<Item>> {
  const items: Item[] = [];
  for (let pages = 1; ; pages++) {
    const { body, headers } = await client.read<{ data: Item[]; has_more: boolean }>({
      path,
      query: { ...query, limit: 100, starting_after: items.at(-1)?.id },
      expect: ({ data, has_more }: { data?: unknown; has_more?: unknown }) =>
        Array.isArray(data) && typeof has_more === "boolean",
    });
    items.push(...body.data);
    const complete = !body.has_more || body.data.length === 0;
    if (complete || pages === maxPages) return { items, complete, at: Date.parse(headers["date"] ?? "") };
  }
}

/** Whether Stripe says that a restricted key lacks a right, which it names: `rak_event_read`. */
const saysForbidden = (error: unknown) =>
  ConnectorError.is(error) && error.status === 403 && /\brak_\w/.test(error.message);

/** The objects of a list; none when the key lacks the right to read it. */
export async function readAllowed<Item extends Pick<Made, "id">>(
  client: HttpReader,
  path: string,
  query: Query,
): Promise<readonly Item[]> {
  try {
    return (await readAll<Item>(client, path, query)).items;
  } catch (error) {
    if (saysForbidden(error)) return [];
    throw error;
  }
}

interface Event {
  readonly id: string;
  /** In the account's own API version: only what never changed may be read. */
  readonly data: { readonly object: Made };
  readonly request: { readonly idempotency_key: string | null } | null;
}

/** A call whose object is looked for. */
export interface Search {
  readonly client: HttpReader;
  readonly idempotencyKey?: string | undefined;
  readonly since: Date;
}
/** Where that object shows: in a list, and in an event. */
export interface Place {
  readonly path: string;
  readonly query?: Query;
  readonly event: string;
}

/**
 * Looks for what a call made: listed with the call's key in its metadata, or named by the event of the request that
 * carried the key. Lists show what was written before, events come late: so a whole list proves absence, events do not.
 */
export async function lookFor<Result>(
  { client, idempotencyKey: key, since }: Search,
  { path, query, event }: Place,
  resultOf: (made: Made) => Result | Promise<Result>,
): Promise<Landed<Result>> {
  if (key === undefined) return "unknown";
  const window = { "created[gte]": Math.floor(since.getTime() / 1000) - slack };
  const listed = await readAll<Made>(client, path, { ...query, ...window });
  const found = listed.items.filter(({ metadata }) => metadata?.[marker] === key);
  if (found.length === 0) {
    const events = await readAllowed<Event>(client, "/v1/events", { type: event, ...window });
    const own = events.filter(({ request }) => request?.idempotency_key === key);
    found.push(...own.map(({ data }) => data.object));
  }
  const [made, another] = found;
  if (another) return "unknown";
  if (made) return { landed: true, result: await resultOf(made) };
  const clocksAgree = Math.abs(listed.at - Date.now()) < slack * 1000;
  return listed.complete && clocksAgree ? { landed: false } : "unknown";
}

/** The result of a call that landed. */
export const landedResult = <Result>(answer: Landed<Result>): Result | undefined =>
  answer !== "unknown" && answer.landed ? answer.result : undefined;
