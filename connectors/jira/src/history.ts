import { type HttpReader, path } from "@reversi-connector/http";
import { accountOf } from "./access.ts";
import { type Change, momentOf } from "./objects.ts";

interface Page {
  readonly values: readonly Change[];
  readonly total: number;
}

const readPage = async (client: HttpReader, issue: string, startAt: number) => {
  const { body } = await client.read<Page>({
    path: path`/issue/${issue}/changelog`,
    query: { startAt, maxResults: 100 },
    expect: ({ values, total }: Partial<Page>) => Array.isArray(values) && typeof total === "number",
  });
  return body;
};

/** The last changes of an issue, oldest first. */
async function readChanges(client: HttpReader, issue: string): Promise<Page> {
  const first = await readPage(client, issue, 0);
  // A page may be smaller than was asked for.
  const shown = first.values.length;
  return first.total <= shown ? first : readPage(client, issue, first.total - shown);
}

export interface Move {
  readonly issue_id: string;
  readonly previous_status_id: string;
  readonly status_id: string;
}

/**
 * Whether this account has moved an issue so after it was last changed at `started`; "unknown" when the history does not
 * reach back so far, or would not show it.
 */
export async function wasMoved(client: HttpReader, { issue_id, ...move }: Move, started: string) {
  // A transition into the same status leaves no trace in the history.
  if (move.previous_status_id === move.status_id) return "unknown";
  const [own, { values, total }] = await Promise.all([accountOf(client), readChanges(client, issue_id)]);
  const later = values.filter(({ created }) => momentOf(created) > momentOf(started));
  const moved = later.some(
    ({ author, items }) =>
      author?.accountId === own &&
      items.some(
        ({ field, fieldId = field, from, to }) =>
          fieldId === "status" && from === move.previous_status_id && to === move.status_id,
      ),
  );
  if (moved) return true;
  return later.length < values.length || values.length === total ? false : "unknown";
}
