import type { Connector, JsonSchema, Manifest } from "@reversi-connector/core";
import type { Statuses, Wire } from "./fault.ts";
import type { Backend, Plan, Subject } from "./subject.ts";

/** A tool as far as the choice of checks depends on it. */
export interface ToolFacts {
  readonly name: string;
  readonly manifest: Manifest;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly writes: boolean;
  /** The manifest of what undoes it. */
  readonly undo: Manifest | undefined;
  /** Whether it says by itself that its goal is in place, or that a lost call landed. */
  readonly holds: boolean;
  readonly landed: boolean;
  readonly plans: readonly Plan<Backend>[];
}

/** What is true of a connector: these decide which checks apply, and nothing else does. */
export interface Facts {
  readonly connector: string;
  readonly version: string;
  /** Something can go wrong between it and its backend; then, with what the backend refuses. */
  readonly network: boolean;
  readonly statuses: Statuses;
  /** What the backend's stand-in answers can be seen. */
  readonly observe: boolean;
  /** Copies of its requests can be sent past it. */
  readonly replay: boolean;
  readonly credential: boolean;
  readonly tools: readonly ToolFacts[];
}

const listOf = <Item>(value: Item | readonly Item[] | undefined): readonly Item[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value as Item];

const none: Statuses = { refuse: [], deny: [], serverError: [] };

export function factsOf(subject: Subject, connector: Connector, wire: Wire | undefined): Facts {
  const { manifests, descriptions, inputSchemas, holds, landed } = connector;
  const tools = manifests.map((manifest): ToolFacts => {
    const { tool: name, effect, compensation } = manifest;
    return {
      name,
      manifest,
      input: inputSchemas[name] ?? {},
      output: descriptions.find((description) => description.name === name)?.outputSchema ?? {},
      writes: effect !== "read_only",
      undo: manifests.find(({ tool }) => tool === compensation?.tool),
      holds: holds[name] !== undefined,
      landed: landed[name] !== undefined,
      plans: listOf(subject.calls[name]),
    };
  });
  return {
    connector: connector.name,
    version: connector.version,
    network: subject.wire !== undefined,
    statuses: wire?.statuses ?? none,
    observe: wire?.observe !== undefined,
    replay: wire?.replay !== undefined,
    credential: subject.credential !== undefined,
    tools,
  };
}

/** A check applies, or says why it does not. */
export type Applies = true | { readonly reason: string };
export const because = (reason: string): Applies => ({ reason });
