import {
  type CompensationCall,
  type Connector,
  type Context,
  defineConnector,
  type Holds,
  type Landed,
  type LostContext,
  s,
  toolsFor,
} from "@reversi-connector/core";
import {
  type EngineCompensation,
  type JournalRecord,
  journalOn,
  type OpenOptions,
  Registry,
  Run,
} from "@reversi-connector/engine";
import { Disk, type Life, newLife, virtualClock } from "./disk.ts";

const tool = toolsFor<null>("desk");
const name = s.string("Which one.", { minLength: 1 });
const done = async () => ({ ok: true });
const ok = s.object({ ok: s.boolean() });

const look = tool
  .readOnly("look", {
    description: "Look at one thing.",
    permission: "desk:read",
    input: s.object({ name }),
    output: ok,
  })
  .run(done);

const clear = tool
  .idempotent("clear", {
    description: "Remove one thing.",
    permission: "desk:clear",
    input: s.object(
      { name, previous: s.nullable(s.string()) },
      { expected: s.string(), etag: s.nullable(s.string()) },
    ),
    output: ok,
    target: ["name"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async () => "unknown")
  .run(done);

const place = tool
  .reversible("place", {
    description: "Place one thing.",
    permission: "desk:write",
    input: s.object({ name }, { label: s.string() }),
    output: s.object({ name, previous: s.nullable(s.string()), content: s.string() }, { etag: s.string() }),
    checkpoint: { result: ["previous", "content"], evidence: ["transaction"], guard: "expected" },
    compensation: {
      tool: clear,
      argument_map: {
        name: "args.name",
        previous: "result.previous",
        expected: "result.content",
        etag: "result.etag",
      },
    },
    residue: [{ id: "desk-dust", text: "Some dust." }],
  })
  .landed(async () => "unknown")
  .run(async () => ({ name: "a", previous: null, content: "c" }));

const drop = tool
  .idempotent("drop", {
    description: "Remove what was attached.",
    permission: "desk:write",
    input: s.object({ id: s.string() }),
    output: ok,
    target: ["id"],
  })
  .holds(async () => "unknown")
  .run(done);

/** Builds on a placed thing, by its name as a path; its undo has no guard. */
const attach = tool
  .reversible("attach", {
    description: "Attach something below a placed thing.",
    permission: "desk:write",
    input: s.object({ path: s.string() }),
    output: s.object({ id: s.string() }),
    requires: [{ tool: place, match: { path: { overlaps: "args.name" } } }],
    compensation: { tool: drop, argument_map: { id: "result.id" } },
  })
  .run(async () => ({ id: "1" }));

const burn = tool
  .irreversible("burn", {
    description: "Burn one thing.",
    permission: "desk:burn",
    input: s.object({ name }),
    output: ok,
  })
  .run(done);

const definition = defineConnector<Record<never, never>, null, null>({
  package: { name: "desk", version: "1.0.0", reversi: { connector: "desk", settings: {} } },
  connect: () => ({ client: () => null, reader: () => null, close: async () => {} }),
  tools: [look, place, clear, attach, drop, burn],
});
export const desk: Connector = definition.create({});

export type Script = (args: Readonly<Record<string, unknown>>, context: Context) => Promise<unknown>;
/** What `place` answers when nothing goes wrong. */
export const placed = { name: "a", previous: null, content: "c", etag: "e" };

/** A compensator whose answers a test writes down beforehand, and which remembers what it was asked. */
export interface Answers {
  undo?: (call: EngineCompensation) => unknown;
  holds?: Holds | ((call: CompensationCall) => Holds | Promise<Holds>);
  landed?: (call: Pick<CompensationCall, "tool" | "args">, context: LostContext) => Landed<unknown>;
}
export function scripted(answers: Answers) {
  const sent: EngineCompensation[] = [];
  const asked: CompensationCall[] = [];
  const lookedUp: LostContext[] = [];
  const compensate = Object.assign(
    async (call: CompensationCall) => {
      sent.push(call as EngineCompensation);
      return answers.undo?.(call as EngineCompensation) ?? { ok: true };
    },
    {
      holds: async (call: CompensationCall): Promise<Holds> => {
        asked.push(call);
        const { holds = true } = answers;
        return typeof holds === "function" ? holds(call) : holds;
      },
      landed: async (call: Pick<CompensationCall, "tool" | "args">, context: LostContext) => {
        lookedUp.push(context);
        return answers.landed?.(call, context) ?? ("unknown" as const);
      },
    },
  );
  return { compensate, answers, sent, asked, lookedUp };
}

/** A run on a disk in memory, under a clock that a test moves. */
export async function office(options: Omit<Partial<OpenOptions>, "run"> = {}) {
  const disk = new Disk();
  const clock = virtualClock();
  const registry = Registry.from(desk.manifests);
  const around = (life: Life = newLife()) => {
    const journal = journalOn(disk.storage(life), clock);
    return { registry, journal, clock, run: "run", ...options };
  };
  const run = await Run.open(around());
  return {
    run,
    disk,
    clock,
    registry,
    records: (): JournalRecord[] =>
      disk
        .bytes("run")
        .toString()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
    call: (tool: string, args: object, execute: Script = async () => placed) =>
      run.call({ tool, args, reason: "because", execute: (given, context) => execute(given, context) }),
    /** The program is gone; another one goes on. */
    resume: () => Run.resume(around()),
    load: () => Run.load(around()),
  };
}
