import { readFileSync } from "node:fs";
import { dataAt, testOn } from "../../test/contracts.ts";
import type { JsonSchema, Manifest } from "../src/index.ts";

/** A tool as the table of signatures describes it. What does not apply to it is null or left out. */
export interface Signature
  extends Pick<Manifest, "effect" | "permission" | "approval" | "compensation" | "requires" | "target"> {
  readonly about: string;
  readonly on_conflict?: { readonly values: readonly string[] };
  readonly guarantees?: object;
  readonly residue?: readonly object[];
  readonly idempotency?: object;
  readonly input_schema: JsonSchema;
  readonly output_schema: JsonSchema;
  readonly additive?: boolean;
  readonly destructive_hint?: boolean;
}

const file = dataAt("../spec/SIGNATURES.json");

/** All tools by name; empty where the table is not at hand. */
export const signatures: Readonly<Record<string, Signature>> = file
  ? JSON.parse(readFileSync(file, "utf8")).tools
  : {};

/** A test on the table of signatures; without it, the title says why it did not run. */
export const testOnSignatures = testOn(file);
