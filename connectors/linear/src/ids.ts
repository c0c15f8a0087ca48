import { callHash, EffectUncertainError, type Landed } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { type Control, whyHidden } from "./access.ts";
import { type Entity, saysNotFound, saysTaken } from "./failures.ts";

/** What an id is chosen from: it comes out the same after a crash. */
export interface Chosen {
  readonly idempotencyKey?: string | undefined;
  readonly args: object;
}

/**
 * The UUID, version 4 in its form, of what this very call makes. A key that is used again with other arguments chooses
 * another one: nothing that an earlier call made passes for it.
 * @throws InvalidArgumentsError without a key
 */
export function chosenId(entity: Entity, { idempotencyKey, args }: Chosen): string {
  const hex = callHash(idempotencyKey, { entity, args });
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/**
 * What `inserting` brings; when an earlier request under the same key, or a copy of this one, has made it already, what
 * `read` brings.
 * @throws EffectUncertainError when it has, and cannot be read
 */
export async function insertOnce<T>(
  entity: Entity,
  id: string,
  inserting: Promise<T>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await inserting;
  } catch (error) {
    if (!saysTaken(error, entity, id)) throw error;
    return read().catch(({ message }) => {
      throw new EffectUncertainError(`${error.message}; an earlier request made it, and now: ${message}`);
    });
  }
}

/** Whether the thing with a chosen id was made. "Not found" proves that it was not only with `control` read. */
export async function lookFor<Result>(
  client: HttpReader,
  entity: Entity,
  control: Control,
  reading: Promise<Result>,
): Promise<Landed<Result>> {
  try {
    return { landed: true, result: await reading };
  } catch (error) {
    if (!saysNotFound(error, entity)) throw error;
    return (await whyHidden(client, control)) === undefined ? { landed: false } : "unknown";
  }
}
