import {
  canonicalJson,
  connectorSchemaHashes,
  definitionHash,
  detectManifestDrift,
  type JsonSchema,
  schemaHash,
} from "@reversi-connector/core";
import type { Bench } from "../bench.ts";
import type { Check } from "../check.ts";
import { same } from "../states.ts";

/** The same schema with every object's keys the other way round. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  );
};

/** Changes of a schema that a caller would notice. */
const changes: readonly (readonly [string, (schema: JsonSchema) => JsonSchema])[] = [
  [
    "a new argument",
    (schema) => ({ ...schema, properties: { ...schema.properties, certification: { type: "string" } } }),
  ],
  [
    "another required argument",
    (schema) => ({ ...schema, required: [...(schema.required ?? []), "certification"] }),
  ],
  ["another description inside", (schema) => ({ ...schema, description: `${schema.description ?? ""}!` })],
  [
    "open to unknown arguments",
    (schema) => ({ ...schema, additionalProperties: schema.additionalProperties !== true }),
  ],
];

function drift({ tool, facts, check }: Bench): void {
  const { name, input } = tool;
  const manifests = facts.tools.map(({ manifest }) => manifest);
  const schemas = Object.fromEntries(facts.tools.map((each) => [each.name, each.input]));
  const baseline = connectorSchemaHashes({ inputSchemas: schemas });
  const found = (changed: JsonSchema, against = baseline) =>
    detectManifestDrift(manifests, { ...schemas, [name]: changed }, against);
  check("unchanged", () => {
    const { added, removed, changed } = found(turned(input) as JsonSchema);
    return added.length + removed.length + changed.length === 0
      ? undefined
      : "drift is reported where there is none";
  });
  for (const [what, change] of changes) {
    check(what, () => (found(change(input)).changed.includes(name) ? undefined : "it is not noticed"));
  }
  check("a tool that is new", () => {
    const { [name]: _, ...without } = baseline;
    return found(input, without).added.includes(name) ? undefined : "it is not noticed";
  });
  check("a tool that is gone", () => {
    const left = manifests.filter((manifest) => manifest.tool !== name);
    return detectManifestDrift(left, schemas, baseline).removed.includes(name)
      ? undefined
      : "it is not noticed";
  });
}

/** What a manifest says of its own schema is true. */
function truth({ tool, check }: Bench): void {
  const { manifest, input } = tool;
  check("the manifest's schema", () =>
    same(manifest.input_schema, input) ? undefined : "the tool takes other arguments than its manifest says",
  );
  check("the manifest's schema hash", () =>
    manifest.schema_hash === schemaHash(input) ? undefined : "the schema changed, and its hash did not",
  );
  check("the manifest's definition hash", () =>
    manifest.definition_hash === definitionHash({ ...manifest, input_schema: input })
      ? undefined
      : "description, effect, permission or schema changed, and their hash did not",
  );
  check("the top level of its schema", () => {
    const { type, anyOf, properties } = input;
    return type === "object" && properties && !anyOf
      ? undefined
      : `it must be a plain object with properties: strict clients refuse ${canonicalJson(input).slice(0, 80)}`;
  });
}

/** What was published is what is there. */
function published({ tool, subject, facts, check, risk }: Bench): void {
  const { schemaHashes } = subject;
  if (!schemaHashes) {
    risk("No schema hashes were published: drift since the last release is not noticed.");
    return;
  }
  check("the published hash", () =>
    schemaHashes[tool.name] === schemaHash(tool.input)
      ? undefined
      : schemaHashes[tool.name] === undefined
        ? "the tool is new since the hashes were published"
        : "the schema changed since its hash was published",
  );
  if (tool !== facts.tools[0]) return;
  const gone = Object.keys(schemaHashes).filter((name) => !facts.tools.some((each) => each.name === name));
  check("published tools that are gone", () => (gone.length > 0 ? `${gone.join(", ")}` : undefined));
}

export const manifestDrift: Check = {
  name: "manifest_drift",
  title: "Manifest drift",
  sentence:
    "A changed, added or removed input schema is noticed, and every manifest tells the truth about its own.",
  applies: () => true,
  after: [],
  async verify(bench) {
    truth(bench);
    drift(bench);
    published(bench);
  },
};
