import type { Manifest } from "@reversi-connector/core";
import { didYouMean, UsageError } from "@reversi-connector/core/program";
import { type Enabled, notSet } from "./enable.ts";
import type { Parsed } from "./flags.ts";
import type { OfferedTool } from "./mcp.ts";

/** `fs.write_file` → `fs_write_file`: unambiguous, because connectors have no underscore in their names. */
export const underscored = (tool: string): string => tool.replace(".", "_");

/** `github:issues:*` fits every permission that begins so. */
const fits = (pattern: string, permission: string) =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  ).test(permission);

/** @throws UsageError for a word that names no tool or permission: a filter that misses would offer too much */
function filterOf(manifests: readonly Manifest[], parsed: Parsed): (manifest: Manifest) => boolean {
  const named = (flag: string) =>
    new Set(
      parsed.list(flag).map((word) => {
        const found = manifests.find(({ tool }) => tool === word || underscored(tool) === word);
        if (found) return found.tool;
        const known = manifests.map(({ tool }) => tool);
        throw new UsageError(`--${flag}: there is no tool ${word}.${didYouMean(word, known)}`);
      }),
    );
  const permissions = parsed.list("permissions");
  for (const pattern of permissions) {
    if (!manifests.some(({ permission }) => fits(pattern, permission))) {
      const known = [...new Set(manifests.map(({ permission }) => permission))].sort().join(", ");
      throw new UsageError(`--permissions: no tool has a permission ${pattern} (there are ${known})`);
    }
  }
  const [only, without, readOnly] = [named("tools"), named("exclude-tools"), parsed.on("read-only")];
  return ({ tool, effect, permission }) =>
    (only.size === 0 || only.has(tool)) &&
    !without.has(tool) &&
    (!readOnly || effect === "read_only") &&
    (permissions.length === 0 || permissions.some((pattern) => fits(pattern, permission)));
}

/** The tools that are listed and callable, sorted by name. */
export function offeredTools(enabled: readonly Enabled[], parsed: Parsed): OfferedTool[] {
  const allowed = filterOf(
    enabled.flatMap(({ definition }) => definition.manifests),
    parsed,
  );
  const spell = parsed.text("tool-names") === "underscore" ? underscored : (tool: string) => tool;
  const tools = enabled.flatMap(({ definition, connector, missing }) => {
    const manifests = definition.manifests.filter(allowed);
    const readTools = manifests.filter(({ effect }) => effect === "read_only").map(({ tool }) => spell(tool));
    return manifests.flatMap((manifest): OfferedTool[] => {
      const description = definition.descriptions.find(({ name }) => name === manifest.tool);
      if (!description) return [];
      const handler = connector?.tools[manifest.tool];
      const call: OfferedTool["call"] = async (args, context) => {
        if (!handler) throw notSet(missing);
        return handler(args, context);
      };
      return [{ listedName: spell(manifest.tool), description, manifest, readTools, call }];
    });
  });
  return tools.sort((a, b) => (a.listedName < b.listedName ? -1 : 1));
}

/** Both spellings of every offered tool. */
export const spellings = (tools: readonly OfferedTool[]): ReadonlyMap<string, OfferedTool> =>
  new Map(
    tools.flatMap((tool) =>
      [tool.manifest.tool, underscored(tool.manifest.tool)].map((name) => [name, tool]),
    ),
  );

const listOr = (words: readonly string[], none: string) => (words.length === 0 ? none : words.join(", "));

/** Three lines for the client's model: what can be undone, what cannot, what stays. */
export function instructionsFor(tools: readonly OfferedTool[]): string {
  const names = (fit: (manifest: Manifest) => boolean) =>
    tools.filter(({ manifest }) => fit(manifest)).map(({ listedName }) => listedName);
  const residue = tools.flatMap(
    ({ manifest }) => manifest.guarantees?.residue?.map(({ text }) => text) ?? [],
  );
  return [
    `Can be undone by a rollback: ${listOr(
      names(({ compensation }) => compensation !== undefined),
      "nothing",
    )}.`,
    `Cannot be undone: ${listOr(
      names(({ effect }) => effect === "irreversible" || effect === "idempotent"),
      "nothing",
    )}.`,
    `Stays after an undo: ${[...new Set(residue)].join(" ") || "nothing."}`,
  ].join("\n");
}
