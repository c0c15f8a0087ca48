import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { fileJournal, Run } from "@reversi-connector/engine";
import fc from "fast-check";
import { always } from "../../test/fuzz.ts";
import { loadManifests } from "../src/shared/manifests.ts";
import { cleanUp, compensator, fixture, place, reversi } from "./support.ts";

afterAll(cleanUp);

const texts: Readonly<Record<string, string>> = { a: "one", b: "two\né", c: "three" };

/** Three notes written over old ones, and the run's file as a gateway leaves it; one that was killed leaves no lock. */
async function written(closed: boolean) {
  const at = place();
  const { registry } = await loadManifests(fixture("notes.yaml"));
  const run = await Run.open({ registry, journal: fileJournal(at.data), run: "run" });
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(at.notes, name), `old ${name}`);
    const execute = async () => {
      writeFileSync(join(at.notes, name), text);
      return { name, previous: `old ${name}`, after: text };
    };
    await run.call({ tool: "notes.write", args: { name, text }, execute });
  }
  await run.close();
  if (!closed) rmSync(join(at.data, "locks"), { recursive: true });
  return at;
}

const damages: Readonly<Record<string, (bytes: Buffer, at: number, other: number) => Buffer>> = {
  "left as it is": (bytes) => bytes,
  "cut at the end": (bytes, at) => bytes.subarray(0, bytes.length - (at % 900)),
  cut: (bytes, at) => bytes.subarray(0, at % bytes.length),
  flipped: (bytes, at, bit) => {
    const flipped = Buffer.from(bytes);
    flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ (1 << (bit % 8));
    return flipped;
  },
  "flipped at the end": (bytes, at, bit) => {
    const flipped = Buffer.from(bytes);
    const place = bytes.length - 1 - (at % 300);
    flipped[place] = (flipped[place] ?? 0) ^ (1 << (bit % 8));
    return flipped;
  },
  reordered: (bytes, at, other) => {
    const lines = bytes.toString().split("\n").slice(0, -1);
    const [one, two] = [at % lines.length, other % lines.length];
    const all = lines.with(one, lines[two] as string).with(two, lines[one] as string);
    return Buffer.from(`${all.join("\n")}\n`);
  },
};

let undone = 0;
always(
  "reversi undoes by a damaged journal nothing at all, or what a true beginning of it says and nothing else",
  10,
  fc.asyncProperty(
    fc.boolean(),
    fc.constantFrom(...Object.values(damages)),
    fc.nat(),
    fc.nat(),
    async (closed, damage, where, other) => {
      const at = await written(closed);
      const file = join(at.data, "runs", "run.jsonl");
      const bytes = readFileSync(file);
      const damaged = damage(bytes, where, other);
      writeFileSync(file, damaged);
      const command = ["rollback", "run", "--data", at.data, "--compensator-cmd", compensator(at)];
      const { code, stderr } = await reversi([...command, "--grace", "0"]);
      const log = join(at.root, "calls.log");
      const calls = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      const undos = calls
        .map((line) => JSON.parse(line) as { op?: string; args: { name: string } })
        .filter(({ op }) => op === undefined || op === "compensate");
      undone += undos.length;
      for (const { args } of undos) {
        const { name } = args;
        expect(args).toEqual({ name, previous: `old ${name}`, after: texts[name] });
      }
      for (const [name, text] of Object.entries(texts))
        expect([text, `old ${name}`]).toContain(at.note(name));
      if (code === 0 || damaged.equals(bytes)) return;
      if (undos.length === 0) expect(stderr).not.toBe("");
      if (stderr.includes("damaged")) expect(undos).toEqual([]);
    },
  ),
);
test("(true beginnings were undone)", () => {
  expect(undone).toBeGreaterThan(2);
});
