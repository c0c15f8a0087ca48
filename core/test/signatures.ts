import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

const folder = process.env["REVERSI_CONTRACTS"];
const file = folder === undefined ? undefined : join(folder, "..", "spec", "SIGNATURES.json");
const found = file !== undefined && existsSync(file);

/** All tools by name; empty where the table is not at hand. */
export const signatures: Readonly<Record<string, Signature>> = found
  ? JSON.parse(readFileSync(file, "utf8")).tools
  : {};

/** A test on the table of signatures; without it, the title says why it did not run. */
export const testOnSignatures = (title: string, body: () => void): void =>
  found
    ? test(title, body)
    : test.skip(`${title} (skipped: REVERSI_CONTRACTS names no folder beside spec/SIGNATURES.json)`, body);
