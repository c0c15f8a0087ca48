import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConnector, s, threeWayRestore, toolsFor } from "@reversi-connector/core";

/** A backend that is one file: each line is one effect, so an effect is there as a whole or not at all. */
export interface PadClient {
  readonly folder: string;
  /** Called before every step of a tool, so that a test can stop the program there. */
  pause(): Promise<void>;
}
export interface Effect {
  readonly kind: "write" | "restore";
  readonly name: string;
  readonly text: string | null;
  readonly key: string;
}

export const effectsIn = (folder: string): Effect[] => {
  try {
    const lines = readFileSync(join(folder, "effects"), "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  } catch {
    return [];
  }
};
export const textOf = (folder: string, name: string): string | null =>
  effectsIn(folder).findLast((effect) => effect.name === name)?.text ?? null;
const act = (folder: string, effect: Effect) =>
  appendFileSync(join(folder, "effects"), `${JSON.stringify(effect)}\n`);

const tool = toolsFor<PadClient>("pad");
const text = s.nullable(s.string());
const name = s.string();

const restore = tool
  .idempotent("restore", {
    description: "Put the earlier text back.",
    permission: "pad:write",
    input: s.object({ name, previous: text, expected: text }),
    output: s.object({ already: s.boolean() }),
    target: ["name"],
    guard: { kind: "content", server_side: false },
  })
  .holds(async ({ client, args }) => {
    await client.pause();
    return textOf(client.folder, args.name) === args.previous;
  })
  .run(async ({ client, args, idempotencyKey: key = "" }) => {
    await client.pause();
    const states = { before: args.previous, after: args.expected, now: textOf(client.folder, args.name) };
    const rules = { what: args.name, same: Object.is, describe: (state: string | null) => `${state}` };
    if (threeWayRestore<string | null>(states, rules) === "already") return { already: true };
    act(client.folder, { kind: "restore", name: args.name, text: args.previous, key });
    await client.pause();
    return { already: false };
  });

const declaration = {
  description: "Write a text.",
  permission: "pad:write",
  input: s.object({ name, text: s.string() }),
  output: s.object({ previous: text, text: s.string() }),
  checkpoint: { result: ["previous", "text"], guard: "expected" },
  compensation: {
    tool: restore,
    argument_map: { name: "args.name", previous: "result.previous", expected: "result.text" },
  },
} as const;

interface WriteCall {
  readonly client: PadClient;
  readonly args: { readonly name: string; readonly text: string };
  readonly idempotencyKey?: string | undefined;
  checkpoint(kept: { result: { previous: string | null; text: string } }): Promise<void>;
}
async function write({ client, args, idempotencyKey: key = "", checkpoint }: WriteCall) {
  await client.pause();
  const result = { previous: textOf(client.folder, args.name), text: args.text };
  await checkpoint({ result });
  await client.pause();
  act(client.folder, { kind: "write", name: args.name, text: args.text, key });
  await client.pause();
  return result;
}

/** Can be looked up by its key. */
const note = tool
  .reversible("note", declaration)
  .landed(async ({ client, idempotencyKey, checkpoint }) => {
    if (!effectsIn(client.folder).some(({ key }) => key === idempotencyKey)) return { landed: false };
    const { previous = null, text } = checkpoint?.result ?? {};
    return text === undefined ? "unknown" : { landed: true, result: { previous, text } };
  })
  .run(write);
/** Cannot. */
const scribble = tool.reversible("scribble", declaration).run(write);

export function pad(client: PadClient) {
  const connect = () => ({ client: () => client, reader: () => client, close: async () => {} });
  return defineConnector<Record<never, never>, PadClient, PadClient>({
    package: { name: "pad", version: "1.0.0", reversi: { connector: "pad", settings: {} } },
    connect,
    tools: [note, scribble, restore],
  }).create({});
}

export const calls = [
  { tool: "pad.note", args: { name: "a", text: "one" } },
  { tool: "pad.scribble", args: { name: "b", text: "two" } },
  { tool: "pad.note", args: { name: "a", text: "three" } },
  { tool: "pad.scribble", args: { name: "a", text: "four" } },
] as const;
