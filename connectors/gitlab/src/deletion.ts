import { ConflictError, ConnectorError, type OnConflict, threeWayRestore } from "@reversi-connector/core";
import type { HttpClient } from "@reversi-connector/http";

interface Deletion {
  /** What is deleted, for messages. */
  readonly what: string;
  readonly path: string;
  /** What was read just before; undefined when there is nothing. */
  readonly now: string | undefined;
  /** What the undone step left. Without it a deleter does as told. */
  readonly expected: string | null | undefined;
  readonly onConflict: OnConflict | undefined;
  /** When GitLab says that this was last changed. */
  readonly changedAt: string | null | undefined;
  /** Looks once more, after a 404. */
  readonly isGone: () => Promise<boolean>;
}

/** The end of the millisecond that GitLab shows: it compares microseconds, and reads a fraction in this header. */
const endOf = (time: string | null | undefined) => time?.replace(/(\.\d{3})(?=Z|[+-]\d)/, "$1999");

/**
 * Deletes what was read just before, unless somebody changed it; false when it was gone already.
 * @throws ConflictError when somebody changed it since the undone step, or after it was read
 */
export async function deleteUnchanged(client: HttpClient, deletion: Deletion): Promise<boolean> {
  const { what, path, now, expected, onConflict, changedAt, isGone } = deletion;
  const states = { before: undefined, after: expected ?? now, now };
  const same = (a: string | undefined, b: string | undefined) => a === b;
  const describe = (state: string | undefined) => state ?? "nothing";
  if (threeWayRestore(states, { what, same, describe, onConflict }) === "already") return false;
  const guarded = typeof expected === "string" && onConflict !== "overwrite";
  const headers = { "if-unmodified-since": guarded ? endOf(changedAt) : undefined };
  try {
    await client.write({ method: "DELETE", path, headers, expect: (body) => body === undefined });
    return true;
  } catch (error) {
    if (!ConnectorError.is(error)) throw error;
    if (error.status === 404 && (await isGone())) return false;
    if (error.status !== 412) throw error;
    const found = "changed after it was read";
    throw new ConflictError(`${what}: ${found}. Nothing was deleted.`, { expected, found });
  }
}
