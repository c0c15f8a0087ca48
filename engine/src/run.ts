import { randomUUID } from "node:crypto";
import type { Approve } from "./approval.ts";
import { settle } from "./arguments.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { DryRunReport } from "./dry-run.ts";
import { edgesOf } from "./edges.ts";
import { type CallOutcome, type ForwardCall, forward } from "./forward.ts";
import type { Journal, RunLog } from "./journal.ts";
import { isFinal } from "./plan.ts";
import type { Registry } from "./registry.ts";
import { type RollbackReport, reportOf } from "./report.ts";
import { type RollbackOptions, rollback } from "./rollback.ts";
import { record, type Session } from "./session.ts";
import {
  emptyState,
  manifestOf,
  type RunState,
  recover,
  reduce,
  type Step,
  undoManifestOf,
} from "./state.ts";

export interface RunOptions {
  readonly journal: Journal;
  /** The permissions that calls may need; everything when left out. Compensations run outside it. */
  readonly scope?: readonly string[] | undefined;
  /** Asks a person about tools that need an approval; without it they are rejected. */
  readonly approve?: Approve | undefined;
  readonly clock?: Clock | undefined;
  /** How long a forward call may take, in milliseconds; 30,000 when left out. */
  readonly callTimeoutMs?: number | undefined;
  /** How long after that a lost request may still arrive at a backend, in milliseconds; 30,000 when left out. */
  readonly graceMs?: number | undefined;
}
export interface OpenOptions extends RunOptions {
  readonly registry: Registry;
  /** The run's name; a random one when left out. */
  readonly run?: string | undefined;
}
export interface ResumeOptions extends Omit<RunOptions, "scope"> {
  readonly run: string;
  /** Needed for further calls; a rollback has all it needs in the journal. */
  readonly registry?: Registry | undefined;
}

/** What a person says about a step: it stands with this result, or nothing of it stands. */
export type Resolution = { readonly applied: unknown } | "not_applied";

function sessionOf(
  state: RunState,
  log: RunLog,
  {
    registry,
    clock = systemClock,
    callTimeoutMs = 30_000,
    graceMs = 30_000,
  }: Omit<ResumeOptions, "run" | "journal">,
  edges = registry && edgesOf(registry),
): Session {
  const nextStep = state.lastStep + 1;
  return { state, log, clock, registry, edges, callTimeoutMs, graceMs, inFlight: new Map(), nextStep };
}

/** The calls of one agent's task, journaled so that they can be undone together. */
export class Run {
  readonly #session: Session;
  readonly #approve: Approve | undefined;
  #rolling: Promise<unknown> = Promise.resolve();

  private constructor(session: Session, approve: Approve | undefined) {
    this.#session = session;
    this.#approve = approve;
  }

  /** Begins a run. Its first record is durable when this resolves. */
  static async open(options: OpenOptions): Promise<Run> {
    const { journal, run = randomUUID(), scope, approve } = options;
    const session = sessionOf(emptyState(), await journal.create(run), options);
    await record(session, { type: "run_opened", version: 1, run, scope: scope ?? null });
    return new Run(session, approve);
  }

  /**
   * Goes on with a run after its process ended: calls without a recorded outcome are unknown, and never made again.
   * @throws JournalDamagedError, RunBusyError
   */
  static async resume(options: ResumeOptions): Promise<Run> {
    const { journal, run, registry, approve } = options;
    const state = emptyState();
    const edges = registry && edgesOf(registry);
    const log = await journal.open(run, (entry) => {
      reduce(state, entry);
      if (entry.type === "intent") edges?.began(entry.step, entry.tool, entry.args, entry.target);
      if (entry.type === "applied") edges?.ended(entry.step, entry);
      if (entry.type === "failed" && !entry.may) edges?.ended(entry.step, "nothing");
    });
    return new Run(sessionOf(recover(state), log, options, edges), approve);
  }

  /** Reads a run without taking it: its steps as its records tell them. */
  static async load({
    journal,
    run,
  }: {
    readonly journal: Journal;
    readonly run: string;
  }): Promise<RunState> {
    const state = emptyState();
    await journal.read(run, (entry) => void reduce(state, entry));
    return state;
  }

  get id(): string {
    return this.#session.state.run;
  }
  /** The steps that write, by number. */
  get steps(): ReadonlyMap<number, Readonly<Step>> {
    return this.#session.state.steps;
  }

  /**
   * Makes one call. Its intent is durable before `execute` runs, its outcome before this resolves.
   * @throws RefusedError before anything was sent; else what `execute` threw
   */
  call<Result>(call: ForwardCall<Result>): Promise<CallOutcome<Result>> {
    return forward(this.#session, call, { approve: this.#approve });
  }

  /**
   * Undoes the run, newest first, and tells how every step stands. From its beginning on the run takes no calls. May be
   * repeated: what is settled stays so, everything else is looked at again.
   */
  rollback(options: RollbackOptions & { readonly dryRun: true }): Promise<DryRunReport>;
  rollback(options: RollbackOptions & { readonly dryRun?: false | undefined }): Promise<RollbackReport>;
  rollback(options: RollbackOptions): Promise<RollbackReport | DryRunReport>;
  rollback(options: RollbackOptions): Promise<RollbackReport | DryRunReport> {
    const rolling = this.#rolling.then(() => rollback(this.#session, options));
    this.#rolling = rolling.catch(() => {});
    return rolling;
  }

  /** How every step stands now, without asking anybody. */
  report(): RollbackReport {
    return reportOf(this.#session.state, { deferred: new Map(), acceptUnverified: false });
  }

  /** Settles a step on a person's word. `evidence` says what the word rests on, `by` whose it is. */
  async resolve(step: number, resolution: Resolution, evidence: string, by: string): Promise<void> {
    await this.#rolling;
    const { state } = this.#session;
    const found = state.steps.get(step);
    if (!found) throw new Error(`run ${state.run} has no step ${step} that writes`);
    if (isFinal(found) || found.status === "executing" || found.status === "compensating")
      throw new Error(`step ${step} of run ${state.run} is ${found.status}: there is nothing to resolve`);
    const word = { type: "resolved", step, evidence, by } as const;
    if (resolution === "not_applied") {
      const nothing = { undo: null, target: found.target };
      return record(this.#session, { ...word, outcome: "not_applied", ...nothing });
    }
    const { args } = found;
    if (!args)
      throw new Error(`step ${step} of run ${state.run} is known to have been applied (${found.status})`);
    const known = { args, result: resolution.applied };
    const settlement = settle(manifestOf(state, found), undoManifestOf(state, found), known);
    if (settlement.unresolvable !== undefined)
      throw new Error(`step ${step}: that result does not settle it: ${settlement.unresolvable}`);
    return record(this.#session, { ...word, outcome: "applied", ...settlement });
  }

  /** Ends the run's use in this process; another one may then resume it. */
  close(): Promise<void> {
    return this.#session.log.close();
  }
}
