import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectorError, EffectUncertainError } from "@reversi-connector/core";
import {
  fileJournal,
  JournalDamagedError,
  type JournalRecord,
  Registry,
  Run,
} from "@reversi-connector/engine";
import fc from "fast-check";
import { always } from "../../test/fuzz.ts";
import { desk, scripted } from "./support/desk.ts";
import { virtualClock } from "./support/disk.ts";

const registry = Registry.from(desk.manifests);
let data = "";
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "reversi-fuzz-"));
});
afterEach(() => rm(data, { recursive: true }));

const file = () => join(data, "runs", "run.jsonl");
const around = (clock = virtualClock()) => ({
  registry,
  journal: fileJournal(data, clock),
  run: "run",
  clock,
});

/** One call: what it leaves, and how its answer comes. */
interface Act {
  readonly name: string;
  readonly previous: string | null;
  readonly content: string;
  readonly ends: "applied" | "failed" | "may" | "uncertain" | "kept" | "read";
}
const words = fc.string({ unit: fc.constantFrom("a", "b", "é", "\n", '"', "😀", "}"), maxLength: 5 });
const act: fc.Arbitrary<Act> = fc.record({
  name: words.map((word) => `n${word}`),
  previous: fc.option(words),
  content: words,
  ends: fc.constantFrom("applied", "applied", "failed", "may", "uncertain", "kept", "read"),
});
const history = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 4 }),
  closed: fc.boolean(),
  undone: fc.subarray([1, 2, 3, 4]),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** Lives a run, and gives what its file holds. A run that was not closed left no note of its end. */
async function lived({ acts, closed, undone }: History): Promise<Buffer> {
  await rm(data, { recursive: true, force: true });
  await mkdir(data);
  const run = await Run.open(around());
  for (const { name, previous, content, ends } of acts) {
    const result = { name, previous, content };
    const place = run.call({
      tool: ends === "read" ? "desk.look" : "desk.place",
      args: { name },
      execute: async (_, { checkpoint }) => {
        if (ends === "kept") await checkpoint?.({ result: { previous, content } });
        if (ends === "failed" || ends === "may")
          throw new ConnectorError("no", { mayHaveApplied: ends === "may" });
        if (ends === "uncertain" || ends === "kept") throw new EffectUncertainError("lost");
        return result;
      },
    });
    await place.catch(() => {});
  }
  const steps = undone.filter((step) => run.steps.has(step));
  if (steps.length > 0) await run.rollback({ compensate: scripted({}).compensate, steps });
  await run.close();
  if (!closed) await rm(join(data, "locks"), { recursive: true });
  return readFile(file());
}

type Damage = (bytes: Buffer, at: number, other: number) => Buffer;
const byLine =
  (change: (lines: Buffer[], at: number, other: number) => Buffer[]): Damage =>
  (bytes, at, other) => {
    const lines: Buffer[] = [];
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(0x0a, from) + 1 || bytes.length;
      lines.push(bytes.subarray(from, end));
      from = end;
    }
    return Buffer.concat(change(lines, at % lines.length, other % lines.length));
  };
const damages: Readonly<Record<string, Damage>> = {
  "cut off at any byte": (bytes, at) => bytes.subarray(0, at % (bytes.length + 1)),
  "with one bit flipped anywhere": (bytes, at, bit) => {
    const flipped = Buffer.from(bytes);
    flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ (1 << (bit % 8));
    return flipped;
  },
  "with one bit flipped in the last line": (bytes, at, bit) => {
    const flipped = Buffer.from(bytes);
    const from = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
    const place = from + (at % (bytes.length - from));
    flipped[place] = (flipped[place] ?? 0) ^ (1 << (bit % 8));
    return flipped;
  },
  "with two lines exchanged": byLine((lines, at, other) =>
    lines.with(at, lines[other] as Buffer).with(other, lines[at] as Buffer),
  ),
  "with a line twice": byLine((lines, at, other) => lines.toSpliced(other, 0, lines[at] as Buffer)),
  "without a line": byLine((lines, at) => lines.toSpliced(at, 1)),
  "with bytes put in": (bytes, at, other) =>
    Buffer.concat([
      bytes.subarray(0, at % (bytes.length + 1)),
      Buffer.from(["\n", "}", " ", "\u0000", '{"type":"lease"}\n', "1"][other % 6] as string),
      bytes.subarray(at % (bytes.length + 1)),
    ]),
};

const recordsIn = (bytes: Buffer): JournalRecord[] =>
  bytes
    .toString()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

for (const [how, damage] of Object.entries(damages)) {
  const seen = { refused: 0, believed: 0, undos: 0 };
  always(
    `a journal ${how} is refused with a clear error, or is a true beginning, and no wrong undo is sent`,
    25,
    fc.asyncProperty(history, fc.nat(), fc.nat(), async (past, at, other) => {
      const bytes = await lived(past);
      const damaged = damage(bytes, at, other);
      await writeFile(file(), damaged);
      const visited: JournalRecord[] = [];
      const { compensate, sent } = scripted({});
      try {
        const { journal } = around();
        await journal.read("run", (record) => void visited.push(record));
        const run = await Run.resume(around());
        await run.rollback({ compensate });
        await run.close();
        seen.believed++;
      } catch (error) {
        if (!JournalDamagedError.is(error)) throw error;
        expect(error.message).toMatch(/^run run: the journal is damaged at line \d+: .*Nothing was undone\./);
        expect(sent).toEqual([]);
        seen.refused++;
        return;
      }
      expect(visited).toEqual(recordsIn(bytes).slice(0, visited.length));
      for (const { step = 0, tool, args } of sent) {
        const { name, previous, content, ends } = past.acts[step - 1] as Act;
        expect({ tool, args, ends }).toEqual({
          tool: "desk.clear",
          args: { name, previous, expected: content },
          ends: expect.stringMatching(/^(applied|kept)$/),
        });
        seen.undos++;
      }
    }),
  );
  test(`(${how}: enough of it was refused)`, () => {
    expect(seen.refused).toBeGreaterThan(5);
  });
}
