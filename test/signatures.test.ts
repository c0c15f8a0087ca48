import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectorSchemaHashes } from "@reversi-connector/core";
import { connectorNames, root } from "./connectors.ts";
import { dataAt, testOn } from "./contracts.ts";

interface Signature {
  readonly effect: string;
  readonly permission: string;
  readonly approval: string | null;
  readonly about: string;
  readonly input_schema: object;
  readonly output_schema: object;
  readonly additive?: boolean;
  readonly landed?: { readonly evidence: string };
  readonly checkpoint?: readonly string[];
  readonly checkpoint_evidence?: readonly string[];
  readonly compensation?: { readonly tool: string; readonly argument_map: object };
  readonly requires?: readonly object[];
  readonly residue?: readonly object[];
  readonly idempotency?: object;
  readonly guard?: { readonly kind: string; readonly server_side: boolean };
  readonly target?: readonly string[];
  readonly on_conflict?: { readonly values: readonly string[] };
  readonly guarantees?: {
    readonly guard: string;
    readonly guard_server_side?: boolean;
    readonly uncertain: string;
    readonly undo_from_checkpoint: boolean;
    readonly checkpoint_guard: string | null;
  };
}

const path = dataAt("../spec/SIGNATURES.json");
const signatures: Record<string, Signature> = path ? JSON.parse(readFileSync(path, "utf8")).tools : {};
const whereKnown = testOn(path);

/** What a signature says, in the words of a manifest. */
function expected(tool: string, signature: Signature): object {
  const { effect, permission, approval, about, input_schema, compensation, requires, residue, guarantees } =
    signature;
  return {
    tool,
    effect,
    permission,
    approval: approval ?? undefined,
    description: about,
    input_schema,
    compensation,
    requires: requires?.length ? requires : undefined,
    target: signature.target,
    on_conflict: signature.on_conflict?.values,
    guarantees: guarantees
      ? {
          guard: guarantees.guard,
          guard_server_side: guarantees.guard_server_side ?? false,
          uncertain: guarantees.uncertain,
          undo_from_checkpoint: guarantees.undo_from_checkpoint,
          ...(guarantees.checkpoint_guard !== null && { checkpoint_guard: guarantees.checkpoint_guard }),
          ...(signature.idempotency && { idempotency: signature.idempotency }),
          residue: residue ?? [],
        }
      : signature.guard && {
          guard: signature.guard.kind,
          guard_server_side: signature.guard.server_side,
          ...(signature.idempotency && { idempotency: signature.idempotency }),
        },
  };
}

describe.each(connectorNames)("%s", (name) => {
  const load = async () => {
    const { definition } = await import(`../connectors/${name}/src/index.ts`);
    return definition as typeof import("../connectors/github/src/index.ts")["definition"];
  };

  whereKnown("declares every tool as its signature says, and no other", async () => {
    const { manifests, descriptions } = await load();
    const own = Object.entries(signatures).filter(([tool]) => tool.startsWith(`${name}.`));
    expect(manifests.map(({ tool }) => tool)).toEqual(own.map(([tool]) => tool).sort());
    for (const [tool, signature] of own) {
      const { title, schema_hash, definition_hash, ...manifest } =
        manifests.find((candidate) => candidate.tool === tool) ?? ({} as never);
      expect(JSON.parse(JSON.stringify(manifest))).toEqual(
        JSON.parse(JSON.stringify(expected(tool, signature))),
      );
      const description = descriptions.find((candidate) => candidate.name === tool);
      expect({ tool, schema: description?.outputSchema }).toEqual({ tool, schema: signature.output_schema });
      const destructive = signature.effect !== "read_only" && signature.additive === false;
      expect({ tool, destructive: description?.annotations.destructiveHint }).toEqual({ tool, destructive });
    }
  });

  test("has an undo for every write, or a person's approval, and every undo names what it works on", async () => {
    for (const { tool, effect, compensation, target, approval } of (await load()).manifests) {
      const facts = { undone: compensation !== undefined, undoes: target !== undefined, approval };
      const expected = {
        undone: effect === "reversible" || effect === "compensable",
        undoes: effect === "idempotent",
        approval: effect === "irreversible" ? "always" : undefined,
      };
      expect({ tool, ...facts }).toEqual({ tool, ...expected });
    }
  });

  test("stores the hashes of its input schemas, so that a change shows in review", async () => {
    const stored = JSON.parse(readFileSync(join(root, `connectors/${name}/schema-hashes.json`), "utf8"));
    expect(stored).toEqual(connectorSchemaHashes(await load()));
  });
});
