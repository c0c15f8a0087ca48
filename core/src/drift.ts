import { schemaHash } from "./manifest.ts";
import type { JsonSchema } from "./schema.ts";

/** Tool name → SHA-256 of its input schema. Store it; `detectManifestDrift` compares with it later. */
export const connectorSchemaHashes = (connector: {
  readonly inputSchemas: Readonly<Record<string, JsonSchema>>;
}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(connector.inputSchemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([tool, schema]) => [tool, schemaHash(schema)]),
  );

export interface Drift {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Names of the tools that came, went, or take other arguments than when `baseline` was stored. Sorted. */
export function detectManifestDrift(
  manifests: readonly { readonly tool: string }[],
  inputSchemas: Readonly<Record<string, JsonSchema>>,
  baseline: Readonly<Record<string, string>>,
): Drift {
  const now = manifests.map(({ tool }) => tool).sort();
  const was = (tool: string) => (Object.hasOwn(baseline, tool) ? baseline[tool] : undefined);
  return {
    added: now.filter((tool) => was(tool) === undefined),
    removed: Object.keys(baseline)
      .filter((tool) => !now.includes(tool))
      .sort(),
    changed: now.filter((tool) => {
      const before = was(tool);
      return before !== undefined && before !== schemaHash(inputSchemas[tool] ?? {});
    }),
  };
}
