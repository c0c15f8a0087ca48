import { ConnectorError, type Progress } from "@reversi-connector/core";
import type { HttpClient, Query } from "@reversi-connector/http";
import { type Place, rewritePath } from "./names.ts";
import { attributesOf, isResource, type Resource, type Stored, same, storedIn } from "./objects.ts";

/** What a call needs to copy: long copies tell how far they are. */
export interface Copying {
  readonly client: HttpClient;
  progress(progress: Progress): void;
}

/** One answer: only the last one has the copy, only the others a token. */
type Round = { readonly totalBytesRewritten?: string; readonly objectSize?: string } & (
  | { readonly done: true; readonly resource: Resource }
  | { readonly done: false; readonly rewriteToken: string }
);
const isRound = (to: Place) => (round: Round) =>
  round.done === true ? isResource(to)(round.resource) : round.done === false && Boolean(round.rewriteToken);

const mostRounds = 250;

/**
 * Copies exactly the version that was read, with its content headers, metadata, storage class and key. Nothing can be seen
 * of it until it is done, and it is done, and proven to be the same, when this returns.
 * @throws ConnectorError, EffectUncertainError
 */
export async function copy(call: Copying, from: Stored, to: Place, condition: Query): Promise<Stored> {
  const query = {
    sourceGeneration: from.generation,
    ifSourceGenerationMatch: from.generation,
    ifSourceMetagenerationMatch: from.metageneration,
    destinationKmsKeyName: from.kmsKeyName?.replace(/\/cryptoKeyVersions\/\d+$/, ""),
    ...condition,
  };
  // A body takes the place of all metadata; without one the class would be the bucket's own.
  const json = { ...attributesOf(from), storageClass: from.storageClass };
  const request = { method: "POST", path: rewritePath(from, to), json, expect: isRound(to) } as const;
  let rewriteToken: string | undefined;
  for (let round = 0; round < mostRounds; round++) {
    const { body } = await call.client.write<Round>({ ...request, query: { ...query, rewriteToken } });
    if (body.done) return proven(from, storedIn(body.resource));
    rewriteToken = body.rewriteToken;
    const [done, total] = [Number(body.totalBytesRewritten), Number(body.objectSize)];
    call.progress({ message: `copying ${from.object}`, ...(done <= total && { done, total }) });
  }
  const why = `Google has not finished its copy within ${mostRounds} requests`;
  throw new ConnectorError(`${from.object}: ${why}; nothing was overwritten`);
}

function proven(from: Stored, made: Stored): Stored {
  if (same(from, made)) return made;
  const what = `Google's copy of ${from.object} at ${made.object} is not the same`;
  throw new ConnectorError(what, { mayHaveApplied: true });
}
