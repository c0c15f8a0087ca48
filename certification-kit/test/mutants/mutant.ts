import {
  type Connector,
  type Context,
  connectorSchemaHashes,
  type PackageFacts,
  type Tool,
} from "@reversi-connector/core";
import type { CheckName, GuaranteeName, Subject } from "../../src/index.ts";
import { facts, toyOf, toyTools } from "../toy/connector.ts";
import { type Leniency, type ToySandbox, toySandbox } from "../toy/sandbox.ts";
import { connectToy, healthyHashes, subjectOf } from "../toy/subject.ts";

export type Toys = typeof toyTools;
type Changes = { readonly [Name in keyof Toys]?: Partial<Tool> };

/** One broken connector, what it must fail, and which of its tools show it. */
export interface Mutant {
  readonly name: string;
  readonly fails: readonly (CheckName | GuaranteeName)[];
  readonly tools: readonly string[];
  readonly subject: Subject<ToySandbox>;
}
type About = Pick<Mutant, "name" | "fails" | "tools">;

/** Whoever refers to a changed tool refers to the changed one. */
function relinked(changes: Changes): Tool[] {
  const made = new Map<string, Tool>();
  for (const [name, tool] of Object.entries(toyTools) as [keyof Toys, Tool][]) {
    made.set(tool.name, { ...tool, ...changes[name] });
  }
  const current = (tool: { readonly name: string }) =>
    made.get(tool.name) as unknown as Tool<never, never, never, "idempotent">;
  for (const tool of made.values()) {
    const { compensation, requires } = tool;
    Object.assign(tool, {
      ...(compensation && { compensation: { ...compensation, tool: current(compensation.tool) } }),
      ...(requires && {
        requires: requires.map((edge) => ({
          ...edge,
          tool: typeof edge.tool === "string" ? edge.tool : current(edge.tool),
        })),
      }),
    });
  }
  return [...made.values()];
}

/** A toy of which some tools are declared, or work, in another way. */
export function withTools(about: About, changes: Changes): Mutant {
  const definition = toyOf(relinked(changes));
  return { ...about, subject: subjectOf(connectToy(definition), connectorSchemaHashes(definition)) };
}

/** A toy of which one tool's handler does something around the good one. */
export function withRun(
  about: About,
  name: keyof Toys,
  // biome-ignore lint/suspicious/noExplicitAny: the handlers of ten tools have nothing in common
  run: (good: (call: any) => Promise<any>, call: any) => Promise<any>,
): Mutant {
  const good = (toyTools[name] as Tool).run;
  return withTools(about, { [name]: { run: (call: never) => run(good, call) } });
}

/** A toy whose finished connector is changed from outside. */
export const wrapped = (
  about: About,
  wrap: (connector: Connector) => Connector,
  changes: Partial<Subject<ToySandbox>> = {},
): Mutant => ({
  ...about,
  subject: subjectOf((connect) => wrap(connectToy()(connect)), healthyHashes, changes),
});

/** A connector of which one tool is called in another way. */
export const calling = (
  connector: Connector,
  tool: string,
  call: (good: Connector["tools"][string], args: unknown, context: Context | undefined) => Promise<unknown>,
): Connector => ({
  ...connector,
  tools: {
    ...connector.tools,
    [tool]: (args, context) => call(connector.tools[tool] as never, args, context),
  },
});

/** The healthy toy with another package.json. */
export const published = (about: About, change: Partial<PackageFacts["reversi"]>): Mutant => ({
  ...about,
  subject: subjectOf(
    connectToy(toyOf(Object.values(toyTools), { ...facts, reversi: { ...facts.reversi, ...change } })),
    healthyHashes,
  ),
});

/** The healthy toy on a sandbox that is less strict than its vendor. */
export const onLenient = (about: About, leniency: Leniency): Mutant => ({
  ...about,
  subject: subjectOf(connectToy(), healthyHashes, { backend: () => toySandbox(leniency) }),
});
