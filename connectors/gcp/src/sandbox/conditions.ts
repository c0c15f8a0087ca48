import { type Call, failure } from "./wire.ts";
import type { StoredObject } from "./world.ts";

export const conditions = ["ifGenerationMatch", "ifMetagenerationMatch"];
export const sourceConditions = ["ifSourceGenerationMatch", "ifSourceMetagenerationMatch"];

function notMet(): never {
  const message = "At least one of the pre-conditions you specified did not hold.";
  const where = { locationType: "header", location: "If-Match" };
  throw failure(412, { reason: "conditionNotMet", message, ...where });
}

/** Holds a request to its conditions. The generation 0 means that there must be no live object. */
export function checkConditions(
  call: Call,
  object: StoredObject | undefined,
  [generation = "", metageneration = ""] = conditions,
): void {
  const wanted = call.number(generation);
  if (wanted !== undefined && wanted !== (object?.generation ?? "0")) notMet();
  const known = call.number(metageneration);
  if (known !== undefined && known !== String(object?.metageneration)) notMet();
}

/** What keeps everybody off an object, whatever its version. */
export function checkProtection(
  { bucket, fail }: Call,
  name: string,
  object: StoredObject | undefined,
): void {
  const what = `Object '${bucket.name}/${name}'`;
  if (object?.held)
    fail(
      403,
      "objectUnderActiveHold",
      `${what} is under active Temporary hold and cannot be deleted, overwritten or archived until hold is removed.`,
    );
  if (object?.retained)
    fail(
      403,
      "retentionPolicyNotMet",
      `${what} is subject to bucket's retention policy or object retention and cannot be deleted or overwritten until 2099-01-01T00:00:00.000Z`,
    );
}

/** Changes of one object that follow each other too fast. */
export function checkPace({ bucket, world }: Call, name: string): void {
  const left = world.busy.get(name) ?? 0;
  if (left <= 0) return;
  world.busy.set(name, left - 1);
  const message = `The object ${bucket.name}/${name} exceeded the rate limit for object mutation operations (create, update, and delete). Please reduce your request rate. See https://cloud.google.com/storage/docs/gcs429.`;
  throw failure(429, { domain: "usageLimits", reason: "rateLimitExceeded", message });
}

/** Before a new object takes its place. */
export function checkName({ fail }: Call, name: string): void {
  const isBad =
    Buffer.byteLength(name) > 1024 ||
    /[\r\n]/.test(name) ||
    [".", "..", ""].includes(name) ||
    name.startsWith(".well-known/acme-challenge/");
  if (isBad) fail(400, "invalid", `Invalid object name: '${name.slice(0, 80)}'`);
}
