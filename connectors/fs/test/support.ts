import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connector, Context } from "@reversi-connector/core";
import { definition, fs } from "@reversi-connector/fs";

export const kept = ".reversi-backups";
export const hashOf = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

type Result = Record<string, unknown>;
export interface Step {
  readonly tool: string;
  readonly args: Result;
  readonly result: Result;
}
type Undo = readonly [tool: string, args: Result];

/** The undo of a step, made from the manifest as an engine makes it. */
export function undoOf({ tool, args, result }: Pick<Step, "tool" | "args" | "result">): Undo {
  const compensation = definition.manifests.find((manifest) => manifest.tool === tool)?.compensation;
  if (!compensation) throw new Error(`${tool} has no undo`);
  const entries = Object.entries(compensation.argument_map).map(([name, source]) => {
    const [from = "", field = ""] = String(source).split(".");
    return [name, (from === "args" ? args : result)[field]];
  });
  return [compensation.tool, Object.fromEntries(entries)];
}

/** A folder of its own with a connector on it. */
export function workspace(options: { readonly backupDir?: string; readonly root?: string } = {}) {
  const outer = mkdtempSync(join(tmpdir(), "reversi-fs-test-"));
  const root = options.root ?? join(outer, "root");
  mkdirSync(root, { recursive: true });
  const connector: Connector = fs({ root, ...(options.backupDir && { backupDir: options.backupDir }) });
  const call = async (tool: string, args: Result, context?: Context): Promise<Result> =>
    (await connector.tools[`fs.${tool}`]?.(args, context)) as Result;
  const steps: Step[] = [];
  return {
    outer,
    root,
    connector,
    steps,
    at: (path: string) => join(root, path),
    text: (path: string) => readFileSync(join(root, path), "utf8"),
    call,
    /** Calls a tool and remembers the step. */
    async step(tool: string, args: Result): Promise<Result> {
      const result = await call(tool, args);
      steps.push({ tool: `fs.${tool}`, args, result });
      return result;
    },
    undo: async (step: Pick<Step, "tool" | "args" | "result">, context?: Context): Promise<Result> => {
      const [tool, args] = undoOf(step);
      return (await connector.tools[tool]?.(args, context)) as Result;
    },
    holds: async (step: Step) => {
      const [tool, args] = undoOf(step);
      return connector.holds[tool]?.(args);
    },
    /** Undoes all steps, newest first. */
    async rollback() {
      const answers: Result[] = [];
      for (const step of [...steps].reverse()) answers.push(await this.undo(step));
      return answers;
    },
    backups: () => (exists(join(root, kept)) ? readdirSync(join(root, kept)).sort() : []),
    async close() {
      await connector.close();
      rmSync(outer, { recursive: true, force: true });
    },
  };
}
export type Workspace = ReturnType<typeof workspace>;

export const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Every name below a folder with its type, mode, time and content; the backups left out. */
export function snapshot(folder: string, { times = false } = {}): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: string, name: string) => {
    const stats = lstatSync(path, { bigint: true });
    const facts = [(stats.mode & 0o177777n).toString(8), ...(times && stats.isFile() ? [stats.mtimeNs] : [])];
    if (stats.isSymbolicLink()) found[name] = [...facts, "->", readlinkSync(path)].join(" ");
    else if (stats.isDirectory()) {
      found[name] = facts.join(" ");
      for (const entry of readdirSync(path)) if (entry !== kept) walk(join(path, entry), `${name}/${entry}`);
    } else if (stats.isFile()) found[name] = [...facts, hashOf(readFileSync(path))].join(" ");
    else found[name] = facts.join(" ");
  };
  walk(folder, ".");
  return found;
}

/** What a call was refused with. Fails when it was not. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ name: string; code: string; message: string; reason?: string }> {
  try {
    await call;
  } catch (error) {
    return error as { name: string; code: string; message: string; reason?: string };
  }
  throw new Error("the call was not refused");
}
export const unknownKey = randomUUID();
