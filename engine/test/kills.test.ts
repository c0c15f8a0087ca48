import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { compensatorFor } from "@reversi-connector/core";
import { fileJournal, type RollbackReport, Run } from "@reversi-connector/engine";
import { calls, effectsIn, pad, textOf } from "./support/pad.ts";

const root = mkdtempSync(join(tmpdir(), "reversi-kills-"));
const program = join(root, "program.mjs");

beforeAll(() => {
  const source = fileURLToPath(new URL("./support/pad-program.ts", import.meta.url));
  const esbuild = fileURLToPath(new URL("../../node_modules/.bin/esbuild", import.meta.url));
  const options = ["--bundle", "--platform=node", "--format=esm", "--conditions=@reversi-connector/source"];
  const { status, stderr } = spawnSync(esbuild, [source, ...options, `--outfile=${program}`], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
});
afterAll(() => rmSync(root, { recursive: true }));

const linesOf = (folder: string): string[] => {
  try {
    return readFileSync(join(folder, "runs", "run.jsonl"), "utf8")
      .split("\n")
      .slice(0, -1);
  } catch {
    return [];
  }
};

/**
 * Runs the program and kills it as soon as its journal has `lines` lines. It asks for leave before every step, so
 * that the moment is a certain one; `hurried` gives leave without looking, and the moment is any.
 * @returns whether it was killed before it had ended
 */
async function runUntil(folder: string, lines: number, { hurried = false } = {}): Promise<boolean> {
  const child = spawn(process.execPath, [program, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  child.stdin.on("error", () => {});
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "complete") continue;
    if (!hurried && linesOf(folder).length >= lines) child.kill("SIGKILL");
    else child.stdin.write("go\n");
    if (hurried && linesOf(folder).length >= lines) child.kill("SIGKILL");
  }
  const [, signal] = await gone;
  return signal === "SIGKILL";
}

/** Another program goes on with what the killed one left. */
async function goOn(folder: string): Promise<RollbackReport> {
  const connector = pad({ folder, pause: async () => {} });
  const run = await Run.resume({ journal: fileJournal(folder), run: "run", graceMs: 1 });
  try {
    const compensate = compensatorFor([connector]);
    const report = await run.rollback({ compensate });
    const { uncertain = [] } = report.groups;
    if (uncertain.length === 0) return report;
    // Killed before the checkpoint, of a call that nothing can look up: a person looks, and it had not happened.
    for (const { step } of uncertain) {
      expect(run.steps.get(step)).toMatchObject({ tool: "pad.scribble" });
      expect(run.steps.get(step)?.checkpoint).toBeUndefined();
      expect(effectsIn(folder).some(({ key }) => key === run.steps.get(step)?.key)).toBe(false);
      await run.resolve(step, "not_applied", "looked at the pad", "operator");
    }
    return await run.rollback({ compensate });
  } finally {
    await run.close();
  }
}

function check(folder: string, report: RollbackReport): void {
  const effects = effectsIn(folder);
  const keys = effects.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  const written = effects.filter(({ kind }) => kind === "write");
  expect(effects.length).toBe(written.length * 2);
  expect(written.length).toBeLessThanOrEqual(calls.length);
  for (const { args } of calls) expect(textOf(folder, args.name)).toBeNull();
  expect(report.status).toBe("complete");
}

test("a program killed at any write to its journal repeats no call, undoes nothing twice, and its report is true", async () => {
  const whole = join(root, "whole");
  expect(await runUntil(whole, Number.POSITIVE_INFINITY)).toBe(false);
  const total = linesOf(whole).length;
  expect(effectsIn(whole)).toHaveLength(calls.length * 2);
  const left = new Set<string>();
  for (let lines = 1; lines <= total; lines++) {
    const folder = join(root, `killed-${lines}`);
    const killed = await runUntil(folder, lines);
    left.add((JSON.parse(linesOf(folder).at(-1) as string) as { type: string }).type);
    if (killed) check(folder, await goOn(folder));
    // Only the last records follow each other without a step of the connector between them.
    expect(killed || lines > total - 2).toBe(true);
  }
  for (const type of ["run_opened", "intent", "checkpoint", "applied", "undo_intent"])
    expect(left).toContain(type);
}, 120_000);

test("a program killed while it hurries on leaves a journal that is true, or torn in its last line at most", async () => {
  for (const lines of [3, 6, 9, 14, 17, 20, 23, 25]) {
    const folder = join(root, `hurried-${lines}`);
    if (await runUntil(folder, lines, { hurried: true })) check(folder, await goOn(folder));
  }
}, 60_000);
