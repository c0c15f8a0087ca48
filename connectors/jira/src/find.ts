import type { HttpReader } from "@reversi-connector/http";
import { issuePath } from "./access.ts";
import { unlessMissing } from "./client.ts";
import { isDigits, isMarked, marker, type Named } from "./objects.ts";

interface Found extends Named {
  readonly properties?: Readonly<Record<string, unknown>>;
}
interface Page {
  readonly issues: readonly Found[];
  readonly nextPageToken?: string;
}

const maxPages = 20;
/** What the clocks of this host and of Jira may differ in, and what JQL rounds off, in minutes. */
const slackMinutes = 10;

const readPage = async (client: HttpReader, jql: string, maxResults: number, nextPageToken?: string) => {
  const { body } = await client.read<Page>({
    path: "/search/jql",
    query: { jql, fields: "created", properties: marker, maxResults, nextPageToken },
    expect: ({ issues }: Partial<Page>) => Array.isArray(issues),
  });
  return body;
};

const has = ({ properties }: Found, op: string) => isMarked(properties?.[marker], op);

/** The issue under a key, with its property; undefined where there is none. */
async function readKey(client: HttpReader, key: string): Promise<Found | undefined> {
  const query = { fields: "created", properties: marker };
  const reading = client.read<Found>({ path: issuePath(key), query, expect: ["id", "key", "self"] });
  return (await unlessMissing(reading))?.body;
}

/** Numbers without an issue that are passed by: failed attempts use some up, and deleted issues leave theirs. */
const maxGap = 3;
/** By how many issues the search may lag. */
const maxBehind = 50;

/**
 * The search lags by seconds, and reading by key does not: of the issues behind the newest one that the search knows,
 * the one that carries the key of the call; "unknown" when they are too many.
 */
async function findBehind(client: HttpReader, newest: string, op: string) {
  const [, project = "", number = ""] = /^(.+)-(\d+)$/.exec(newest) ?? [];
  for (let behind = 1, gap = 0; behind <= maxBehind; behind++) {
    const found = await readKey(client, `${project}-${Number(number) + behind}`);
    if (found && has(found, op)) return found;
    gap = found ? 0 : gap + 1;
    if (gap === maxGap) return undefined;
  }
  return "unknown";
}

/**
 * The issue that carries the key of a call, among those that this account has made since then, wherever they were moved;
 * "unknown" when they are too many.
 */
async function searchMarked(client: HttpReader, op: string, since: Date) {
  const minutes = Math.max(0, Math.ceil((Date.now() - since.getTime()) / 60_000)) + slackMinutes;
  const own = `creator = currentUser() AND created >= "-${minutes}m" ORDER BY created DESC`;
  let token: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const { issues, nextPageToken } = await readPage(client, own, 100, token);
    const found = issues.find((issue) => has(issue, op));
    if (found || !nextPageToken) return found;
    token = nextPageToken;
  }
  return "unknown";
}

/** The issue that a call made; undefined when there is none; "unknown" when a project's numbers cannot be told. */
export async function findMade(client: HttpReader, project: string, op: string, since: Date) {
  const found = await searchMarked(client, op, since);
  if (found) return found;
  const scope = `project = ${isDigits(project) ? project : `"${project}"`}`;
  const { issues } = await readPage(client, `${scope} ORDER BY key DESC`, 1);
  const newest = issues[0]?.key ?? (isDigits(project) ? undefined : `${project}-0`);
  return newest === undefined ? "unknown" : findBehind(client, newest, op);
}
