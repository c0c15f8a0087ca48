import { ConnectorError, type OnConflict, s, threeWayRestore } from "@reversi-connector/core";
import { type HttpClient, type HttpReader, path, type ReadRequest } from "@reversi-connector/http";

/** The arguments that name a repository. */
export const repository = {
  owner: s.string("Account that owns the repository.", { pattern: "^[A-Za-z0-9_-]{1,100}$" }),
  repo: s.string("Repository name, without the owner.", {
    pattern: "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,100}$",
  }),
};
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** @throws ConnectorError with GitHub's status */
export async function readRepository(client: HttpReader, { owner, repo }: RepositoryName) {
  const { body } = await client.read<{ readonly default_branch: string }>({
    path: path`/repos/${owner}/${repo}`,
    expect: ["default_branch"],
  });
  return body;
}

const isNotFound = (error: unknown): error is ConnectorError =>
  ConnectorError.is(error) && error.status === 404;

/** Whether GitHub says of an issue that it was deleted; a 410 also tells that a repository has no issues at all. */
export const saysDeleted = (error: unknown): boolean =>
  ConnectorError.is(error) && error.status === 410 && /deleted/i.test(error.reason ?? "");

/** What `request` brings, or undefined when GitHub says that the issue was deleted. */
export async function unlessDeleted<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (saysDeleted(error)) return undefined;
    throw error;
  }
}

/**
 * What `reading` brings, or undefined when that is really gone. GitHub answers 404 for lost access too, so a 404 counts
 * only while the repository itself can be read.
 * @throws ConnectorError when nobody can tell
 */
export async function unlessGone<T>(
  client: HttpReader,
  { owner, repo }: RepositoryName,
  reading: Promise<T>,
): Promise<T | undefined> {
  try {
    return await unlessDeleted(reading);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await readRepository(client, { owner, repo }).catch((lost: unknown) => {
      if (!isNotFound(lost)) throw lost;
      const why = `${owner}/${repo} cannot be read, so nobody can tell what is gone and what is hidden`;
      throw new ConnectorError(`${error.message}; ${why}`, error);
    });
    return undefined;
  }
}

interface Compared {
  /** What is deleted, for the message. */
  readonly what: string;
  /** What is there; undefined when nothing is. */
  readonly now: string | undefined;
  /** What the undone step left. Without it a deleter does as told. */
  readonly expected: string | null | undefined;
  readonly onConflict: OnConflict | undefined;
}

/**
 * Whether there is anything to delete.
 * @throws ConflictError when somebody changed it since
 */
export function isToDelete({ what, now, expected, onConflict }: Compared): boolean {
  const states = { before: undefined, after: expected ?? now, now };
  const same = (a: string | undefined, b: string | undefined) => a === b;
  const describe = (state: string | undefined) => state ?? "nothing";
  return threeWayRestore(states, { what, same, describe, onConflict }) === "restore";
}

/**
 * Deletes what was read just before; false when somebody else did so meanwhile. A missing right answers 404 as well, so
 * `gone` looks once more.
 */
export async function erase(
  client: HttpClient,
  path: string,
  gone: (refusal: ConnectorError) => boolean | Promise<boolean>,
): Promise<boolean> {
  try {
    await client.write({ method: "DELETE", path, expect: (body) => body === undefined });
    return true;
  } catch (error) {
    if (ConnectorError.is(error) && (await gone(error))) return false;
    throw error;
  }
}

const maxPages = 100;
const nextPage = (link = "") => /<([^>]+)>[^,<]*;\s*rel="?next"?/.exec(link)?.[1];

/** All items of a list, whatever the number of pages. */
export async function readAll<Item>(client: HttpReader, path: string): Promise<Item[]> {
  const items: Item[] = [];
  let request: ReadRequest<"json"> = { path, query: { per_page: 100 } };
  for (let pages = 0; pages < maxPages; pages++) {
    const { body, headers } = await client.read<Item[]>({ ...request, expect: Array.isArray });
    items.push(...body);
    const link = nextPage(headers["link"]);
    if (link === undefined) return items;
    request = { link };
  }
  throw new ConnectorError(`GET ${path}: the list does not end after ${maxPages} pages`);
}
