import { type Compensator, type Context, compensatorFor, type Manifest } from "@reversi-connector/core";
import {
  forwardKey,
  type Journal,
  journalOn,
  type OpenOptions,
  Registry,
  type RollbackOptions,
  type RollbackReport,
  Run,
} from "@reversi-connector/engine";
import { box } from "./box.ts";
import { Died, Disk, type Life, newLife, random, virtualClock } from "./disk.ts";
import { Remote, type Sender } from "./remote.ts";

export type Execute = (args: Readonly<Record<string, unknown>>, context: Context) => Promise<unknown>;

/** How a test switches a rule of the engine off: from outside, by standing between it and its surroundings. */
export interface Without {
  journal?(journal: Journal): Journal;
  execute?(execute: Execute, note: (key: string, likeKey: string) => void): Execute;
  compensator?(compensator: Compensator, run: string): Compensator;
  manifests?(manifests: readonly Manifest[]): readonly Manifest[];
  readonly preconditions?: false;
  readonly lateWritesIgnored?: true;
}

export type Invariant =
  | "false complete"
  | "lost edit"
  | "double effect"
  | "dependent destroyed"
  | "stuck"
  | "conflict without an edit";

interface Action {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Surroundings {
  readonly connector: ReturnType<typeof box>;
  readonly options: OpenOptions & { readonly run: string };
}

const registries = new WeakMap<object, Registry>();
const registryOf = (manifests: readonly Manifest[]): Registry => {
  const registry = registries.get(manifests) ?? Registry.from(manifests);
  registries.set(manifests, registry);
  return registry;
};

const boxes = ["box-a", "box-b", "box-c"] as const;

class History {
  readonly seed: number;
  readonly run: string;
  readonly chance: () => number;
  readonly clock = virtualClock();
  readonly disk: Disk;
  readonly remote: Remote;
  readonly without: Without;
  readonly trace: string[] = [];
  readonly #senders = new Map<string, Omit<Sender, "life">>();
  readonly #subjects = new Map<number, string>();
  #life: Life = newLife();
  #threads: string[] = [];
  #step = 0;

  constructor(seed: number, without: Without) {
    this.seed = seed;
    this.run = `run-${seed}`;
    this.without = without;
    this.chance = random(seed);
    this.disk = new Disk(this.chance);
    this.remote = new Remote({
      random: this.chance,
      clock: this.clock,
      faults: [0.05, 0.25, 0.5][seed % 3] as number,
      edits: seed % 2 === 0 ? 0 : 0.06,
      preconditions: without.preconditions ?? true,
    });
    this.remote.onChange = (what) => this.note(what);
    this.remote.things.set("box-a", { value: "start", version: 0, owner: "start" });
    this.remote.things.set("box-b", { value: "start", version: 0, owner: "start" });
  }

  likely(probability: number): boolean {
    return this.chance() < probability;
  }
  note(text: string): void {
    this.trace.push(`${((this.clock.now() / 1000) % 100_000).toFixed(1)} ${text}`);
  }

  #surroundings(): Surroundings {
    const life = this.#life;
    const senderOf = (key: string | undefined): Sender => {
      const known = key === undefined ? undefined : this.#senders.get(key);
      return known ? { ...known, life } : { life, as: "look", step: 0 };
    };
    const connector = box({ remote: this.remote, senderOf });
    const plain = journalOn(this.disk.storage(life), this.clock);
    const journal = this.without.journal?.(plain) ?? plain;
    const registry = registryOf(this.without.manifests?.(connector.manifests) ?? connector.manifests);
    const window = this.without.lateWritesIgnored ? { callTimeoutMs: 0, graceMs: 0 } : {};
    return { connector, options: { journal, registry, clock: this.clock, run: this.run, ...window } };
  }

  /** A new life of the program, which may end at some write to the journal. */
  #liveAgain(mayDie: boolean): void {
    this.#life = newLife(mayDie && this.likely(0.6) ? 1 + Math.floor(this.chance() * 14) : undefined);
  }

  #pick(): Action {
    const value = this.likely(0.1) ? "start" : `value-${this.#step}-${Math.floor(this.chance() * 1e6)}`;
    const luck = this.chance();
    if (luck < 0.6) {
      const name = boxes[Math.floor(this.chance() * boxes.length)];
      return { tool: this.likely(0.5) ? "box.put" : "box.set", args: { name, value } };
    }
    // An agent also finds what it made without getting an answer.
    const found = [...this.remote.things.keys()].filter((name) => name.startsWith("thread"));
    const threads = this.#threads.concat(found);
    const thread = threads[Math.floor(this.chance() * threads.length)];
    if (luck < 0.75 || thread === undefined) return { tool: "box.open_thread", args: { title: value } };
    return { tool: "box.add_note", args: { thread, text: value } };
  }

  async #call(run: Run, tools: ReturnType<typeof box>["tools"], together: boolean): Promise<void> {
    const { tool, args } = this.#pick();
    this.#step++;
    const base: Execute = (given, context) => tools[tool]?.(given, context) as Promise<unknown>;
    const alike = (key: string, like: string) => {
      const sender = this.#senders.get(like);
      if (sender) this.#senders.set(key, sender);
    };
    const wrapped = this.without.execute?.(base, alike) ?? base;
    const execute: Execute = (given, context) => {
      const key = context.idempotencyKey as string;
      const step = [...run.steps.values()].find((one) => one.key === key)?.step ?? this.#stepOf(key);
      this.#senders.set(key, { as: "forward", step, together });
      if (typeof given["name"] === "string") this.#subjects.set(step, given["name"]);
      this.note(`step ${step} ${tool} ${JSON.stringify(given)}`);
      return wrapped(given, context);
    };
    try {
      const { result } = await run.call({ tool, args, execute });
      if (tool === "box.open_thread") this.#threads.push((result as { id: string }).id);
    } catch (error) {
      this.note(`  failed: ${(error as Error).message}`);
    }
  }
  #stepOf(key: string): number {
    for (let step = 1; step < 100; step++) if (forwardKey(this.run, step) === key) return step;
    throw new Error("a key of no step");
  }

  /** Runs `work` on the run, through as many deaths of the program as happen. */
  async #surviving(mayDie: boolean, work: (run: Run, around: Surroundings) => Promise<void>) {
    for (let lives = 0; lives < 20; lives++) {
      const around = this.#surroundings();
      let run: Run | undefined;
      try {
        const begun = this.disk.bytes(this.run).includes("\n");
        if (!begun) this.disk.files.delete(this.run);
        run = begun ? await Run.resume(around.options) : await Run.open(around.options);
        await work(run, around);
        if (!this.#life.dead) {
          await run.close();
          return;
        }
      } catch (error) {
        if (!this.#life.dead) throw error;
      }
      this.note("the program died");
      this.#liveAgain(mayDie && lives < 4);
    }
  }

  async forward(): Promise<void> {
    let left = 1 + Math.floor(this.chance() * 8);
    this.#liveAgain(true);
    await this.#surviving(true, async (run, { connector }) => {
      while (left > 0 && !this.#life.dead) {
        const together = this.likely(0.15) ? 2 : 1;
        left -= together;
        await Promise.all(
          Array.from({ length: together }, () => this.#call(run, connector.tools, together > 1)),
        );
      }
    });
  }

  async rollback(
    mayDie: boolean,
    options: Partial<Omit<RollbackOptions, "dryRun">> = {},
  ): Promise<RollbackReport> {
    let report: RollbackReport | undefined;
    this.#liveAgain(mayDie);
    await this.#surviving(mayDie, async (run, { connector }) => {
      const plain = compensatorFor([connector]);
      const base = this.without.compensator?.(plain, this.run) ?? plain;
      const compensate = Object.assign(async (call: Parameters<Compensator>[0] & { step?: number }) => {
        const forced = call.on_conflict === "overwrite" && options.forceConflicts === true;
        const { step = 0, idempotency_key: key = "" } = call;
        this.#senders.set(key, { as: "undo", step, ...(forced && { forced }) });
        this.note(`undo ${step} ${call.tool} ${JSON.stringify(call.args)} ${key.slice(0, 6)}`);
        return base(call);
      }, base);
      report = await run.rollback({ compensate, ...options });
    });
    if (!report) throw new Error("no report");
    this.note(`report ${report.status} ${JSON.stringify(report.counts)}`);
    this.#checkClaims(report);
    return report;
  }

  #checkClaims({ status, groups }: RollbackReport): void {
    const { remote } = this;
    for (const { step } of groups.compensated ?? [])
      if (remote.stands(step)) remote.broken.add("false complete");
    if (status === "complete") this.#checkNothingStands();
    for (const { step } of groups.conflict ?? []) {
      const name = this.#subjects.get(step) ?? remote.effects.get(step)?.name ?? "";
      if (!remote.edited.has(name)) remote.broken.add("conflict without an edit");
    }
  }
  #checkNothingStands(): void {
    for (const { owner } of this.remote.things.values())
      if (typeof owner === "number") this.remote.broken.add("false complete");
  }

  /** What a person does about calls that left nothing to look them up by: looks at the backend. */
  async resolveByHand(report: RollbackReport): Promise<void> {
    this.clock.advance(60_000);
    this.remote.deliver(true);
    await this.#surviving(false, async (run) => {
      for (const { step } of report.groups.uncertain ?? []) {
        const id = this.remote.landed.get(run.steps.get(step)?.key ?? "");
        const word = id === undefined ? "not_applied" : { applied: { id } };
        // A person who does not know the old value either can settle nothing.
        await run.resolve(step, word, "looked", "operator").catch((error) => this.note(`  ${error.message}`));
      }
    });
  }

  async calm(): Promise<void> {
    const { options } = this.remote;
    options.faults = 0;
    options.edits = 0;
    let report = await this.rollback(false);
    for (let tries = 0; report.status !== "complete" && tries < 4; tries++) {
      await this.resolveByHand(report);
      report = await this.rollback(false);
      if (report.status === "complete") break;
      const edited = (report.groups.conflict ?? []).length > 0;
      if (edited) report = await this.rollback(false, { forceConflicts: true });
    }
    if (report.status !== "complete") this.remote.broken.add("stuck");
    this.remote.deliver(true);
    if (report.status === "complete") this.#checkNothingStands();
  }
}

/** Lives one history and tells which invariants it broke, and how it went. */
export async function live(
  seed: number,
  without: Without = {},
): Promise<{ broken: Invariant[]; trace: string[] }> {
  const history = new History(seed, without);
  try {
    await history.forward();
    for (let rounds = Math.floor(history.chance() * 3); rounds > 0; rounds--) await history.rollback(true);
    await history.calm();
  } catch (error) {
    if (error instanceof Died) throw error;
    history.note(`broke off: ${(error as Error).stack}`);
    throw Object.assign(error as Error, {
      message: `seed ${seed}: ${(error as Error).message}`,
      trace: history.trace,
    });
  }
  return { broken: [...history.remote.broken] as Invariant[], trace: history.trace };
}
