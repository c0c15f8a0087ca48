import { definitionHash, type JsonSchema, type Manifest, schemaHash } from "@reversi-connector/core";
import type { Log } from "../shared/log.ts";
import { messageOf } from "../shared/usage.ts";
import { type Fields, isObject } from "./messages.ts";
import type { McpProxy } from "./proxy.ts";

/** What the gateway knows of one tool name that an agent may use. */
export interface Entry {
  /** As the upstream lists it. */
  readonly upstreamName: string;
  /** As the journal calls it: the manifest's name, or the upstream's where there is no manifest. */
  readonly name: string;
  readonly manifest: Manifest | undefined;
  /** Why no call is let through, although there is a manifest. */
  readonly objection: string | undefined;
}
export interface Catalog {
  find(name: string): Entry | undefined;
  readonly entries: readonly Entry[];
}

/** `fs.write_file` → `fs_write_file`: what hosts make of a dotted name. */
const underscored = (name: string): string => name.replace(".", "_");
const withoutPrefix = (name: string): string => name.slice(name.indexOf(".") + 1);

/** What differs from the manifest's hashes; undefined when nothing does. */
function driftOf(tool: Fields, manifest: Manifest): string | undefined {
  const input_schema = (tool["inputSchema"] ?? {}) as JsonSchema;
  const { schema_hash, definition_hash, effect, permission } = manifest;
  if (schema_hash !== undefined && schemaHash(input_schema) !== schema_hash) return "its input schema";
  if (definition_hash === undefined) return undefined;
  const meta = isObject(tool["_meta"]) ? tool["_meta"] : {};
  const now = {
    input_schema,
    description: typeof tool["description"] === "string" ? tool["description"] : "",
    // A server that says nothing of these is held to the manifest's.
    effect: (meta["reversi/effect"] ?? effect) as Manifest["effect"],
    permission: (meta["reversi/permission"] ?? permission) as string,
  };
  return definitionHash(now) === definition_hash ? undefined : "its description, effect or permission";
}

/**
 * The manifests that may be meant by an upstream's tool: by its name, by its name with a dot, or by what follows a prefix
 * that only the manifest has.
 */
function manifestsFor(listed: string, manifests: readonly Manifest[]): Manifest[] {
  const ways: ((tool: string) => boolean)[] = [
    (tool) => tool === listed,
    (tool) => underscored(tool) === listed,
    (tool) => tool.includes(".") && withoutPrefix(tool) === listed,
  ];
  return ways.map((way) => manifests.filter(({ tool }) => way(tool))).find((found) => found.length > 0) ?? [];
}

function objectionTo(tool: Fields, [manifest, ...others]: readonly Manifest[]): string | undefined {
  if (!manifest) return undefined;
  if (others.length > 0) {
    const names = [manifest, ...others].map((one) => one.tool).join(" and ");
    return `${names} both fit the server's tool ${tool["name"]}; keep one of these manifests`;
  }
  const drift = driftOf(tool, manifest);
  if (drift === undefined) return undefined;
  return `the server's tool ${tool["name"]} is no longer what its manifest describes: ${drift} changed. Look at the change, then print or write the manifest anew`;
}

/** Brings the upstream's list and the manifests together. */
export function catalogOf(tools: readonly Fields[], manifests: readonly Manifest[]): Catalog {
  const entries: Entry[] = [];
  const byName = new Map<string, Entry>();
  for (const tool of tools) {
    const listed = tool["name"];
    if (typeof listed !== "string") continue;
    const fitting = manifestsFor(listed, manifests);
    const [manifest] = fitting;
    const objection = objectionTo(tool, fitting);
    const entry: Entry = { upstreamName: listed, name: manifest?.tool ?? listed, manifest, objection };
    entries.push(entry);
    byName.set(listed, entry);
  }
  for (const entry of entries) {
    for (const spelling of [entry.name, underscored(entry.name)]) {
      if (!byName.has(spelling)) byName.set(spelling, entry);
    }
  }
  return { find: (name) => byName.get(name), entries };
}

const listTimeoutMs = 30_000;

/** The upstream's tools, fetched when they are first needed and again when they changed. */
export function catalogThrough(ask: McpProxy["askUpstream"], manifests: readonly Manifest[], log: Log) {
  let current: Promise<Catalog> | undefined;
  async function fetch(): Promise<Catalog> {
    const tools: Fields[] = [];
    let cursor: unknown;
    do {
      const page = await ask("tools/list", cursor === undefined ? {} : { cursor }, listTimeoutMs);
      if (Array.isArray(page["tools"])) tools.push(...page["tools"].filter(isObject));
      cursor = page["nextCursor"];
    } while (typeof cursor === "string");
    const catalog = catalogOf(tools, manifests);
    for (const { name, objection } of catalog.entries)
      if (objection !== undefined) log.say(`${name} is refused: ${objection}`);
    const bare = catalog.entries.filter(({ manifest }) => !manifest).map(({ name }) => name);
    if (bare.length > 0) log.say(`refused for want of a manifest: ${bare.join(", ")}`);
    return catalog;
  }
  const get = () => {
    current ??= fetch().catch((error) => {
      current = undefined;
      throw new Error(`the server's tools could not be listed: ${messageOf(error)}`);
    });
    return current;
  };
  return {
    get,
    renew() {
      current = undefined;
      get().catch((error) => log.say(messageOf(error)));
    },
  };
}
