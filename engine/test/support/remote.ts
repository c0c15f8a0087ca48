import { ConnectorError, EffectUncertainError } from "@reversi-connector/core";
import type { Clock } from "@reversi-connector/engine";
import type { Life } from "./disk.ts";

/** Whose word an object's present state is: the start, a person, or the step that wrote it. */
export type Owner = "start" | "person" | number;

export interface Thing {
  value: string;
  version: number;
  owner: Owner;
  /** Of a note: its thread. */
  readonly within?: string;
}

/** Who sends a request, for the books of the test; a real backend never sees this. */
export interface Sender {
  readonly life: Life;
  readonly as: "forward" | "undo" | "look";
  readonly step: number;
  readonly forced?: boolean;
  /** Sent while another call of the agent is under way. */
  readonly together?: boolean;
}
export type Change =
  | {
      readonly kind: "write";
      readonly name: string;
      readonly value: string | null;
      readonly ifVersion: number | null;
    }
  | { readonly kind: "make"; readonly prefix: string; readonly value: string; readonly within?: string };

type Answer =
  | { readonly status: 200; readonly name: string; readonly value: string | null }
  | { readonly status: number };

export interface RemoteOptions {
  readonly random: () => number;
  readonly clock: Clock & { advance(ms: number): void };
  /** Chance that something goes wrong with one request. */
  faults: number;
  /** Chance that a person edits something before one request. */
  edits: number;
  /** Off: the backend ignores preconditions. */
  readonly preconditions: boolean;
}

/** A backend with names, versions and a key store, on which everything goes wrong that does go wrong. */
export class Remote {
  readonly things = new Map<string, Thing>();
  readonly options: RemoteOptions;
  readonly broken = new Set<string>();
  /** Names that a person ever touched. */
  readonly edited = new Set<string>();
  /** Step → what its forward call did: the state it replaced, and the name it works on. */
  readonly effects = new Map<number, { name: string; replaced: Owner; count: number }>();
  /** Keys whose request took effect, with the name it made or changed. */
  readonly landed = new Map<string, string>();
  readonly #undone = new Set<number>();
  readonly #answers = new Map<string, Answer>();
  #late: { due: number; arrive: () => void }[] = [];
  #count = 0;

  constructor(options: RemoteOptions) {
    this.options = options;
  }

  /** Requests on their way whose time has come. */
  deliver(everything = false): void {
    const now = this.options.clock.now();
    const due = this.#late
      .filter((request) => everything || request.due <= now)
      .sort((a, b) => a.due - b.due);
    this.#late = this.#late.filter((request) => !due.includes(request));
    for (const { arrive } of due) arrive();
  }

  #touch(): void {
    const { random, edits, clock } = this.options;
    clock.advance(Math.floor(random() * 2_000));
    this.deliver();
    if (random() >= edits) return;
    const editable = [...this.things.keys()].filter((name) => !name.startsWith("note"));
    const name = editable[Math.floor(random() * editable.length)];
    if (name === undefined) return;
    this.things.set(name, { value: `person-${++this.#count}`, version: ++this.#count, owner: "person" });
    this.onChange(`    a person edits ${name}`);
    this.edited.add(name);
  }

  #refuseDead({ life }: Sender): void {
    if (life.dead) throw new ConnectorError("sent by nobody");
  }

  read(sender: Sender, name: string): Thing | undefined {
    this.#refuseDead(sender);
    this.#touch();
    const { random, faults } = this.options;
    const luck = random();
    if (luck < faults / 3) throw new ConnectorError("HTTP 500: GET", { status: 500 });
    if (luck < faults / 2) throw new ConnectorError("HTTP 429: GET", { status: 429, retryAfterSeconds: 1 });
    const thing = this.things.get(name);
    return thing && { ...thing };
  }

  /** By evidence: whether a request under this key took effect. */
  evidence(sender: Sender, key: string): string | undefined {
    this.read(sender, "");
    return this.landed.get(key);
  }

  #count_(sender: Sender, name: string, replaced: Owner): void {
    const { as, step } = sender;
    if (as === "forward") {
      const effect = this.effects.get(step);
      if (effect) effect.count++;
      else this.effects.set(step, { name, replaced, count: 1 });
      if (effect) this.broken.add("double effect");
      return;
    }
    if (sender.forced) return;
    if (replaced === "person") return void this.broken.add("lost edit");
    // Each effect is undone once; which step's undo it was does not matter where two steps left the same.
    if (typeof replaced !== "number" || this.#undone.has(replaced)) this.broken.add("double effect");
    else this.#undone.add(replaced);
  }

  /** Whose state it is after a write. Writing what is there already makes it nobody else's. */
  #ownerAfter({ as, step, forced }: Sender, replaced: Owner, unchanged: boolean): Owner {
    if (as === "forward") return unchanged ? replaced : step;
    const undone = forced ? step : replaced;
    return typeof undone === "number" ? (this.effects.get(undone)?.replaced ?? "start") : undone;
  }

  /** Told about everything that really changes. */
  onChange: (what: string) => void = () => {};

  #apply(sender: Sender, change: Change, key: string): Answer {
    if (change.kind === "make") {
      if (change.within !== undefined && !this.things.has(change.within)) return { status: 404 };
      const name = `${change.prefix}-${++this.#count}`;
      const within = change.within === undefined ? {} : { within: change.within };
      this.onChange(`    step ${sender.step}: ${name} made`);
      this.things.set(name, { value: change.value, version: ++this.#count, owner: sender.step, ...within });
      this.#count_(sender, name, "start");
      this.landed.set(key, name);
      return { status: 200, name, value: change.value };
    }
    const { name, value, ifVersion } = change;
    const now = this.things.get(name);
    if (this.options.preconditions || sender.as === "forward") {
      if ((now?.version ?? null) !== ifVersion) return { status: 412 };
    }
    const replaced = now?.owner ?? "start";
    this.onChange(`    ${sender.as} of ${sender.step}: ${name} from ${now?.value} (${replaced}) to ${value}`);
    this.#count_(sender, name, replaced);
    const owner = this.#ownerAfter(sender, replaced, now?.value === value);
    if (value === null) {
      this.things.delete(name);
      this.#cascade(sender, name);
    } else {
      const within = now?.within === undefined ? {} : { within: now.within };
      this.things.set(name, { value, version: ++this.#count, owner, ...within });
    }
    this.landed.set(key, name);
    return { status: 200, name, value };
  }

  #cascade(sender: Sender, thread: string): void {
    for (const [name, { within }] of [...this.things]) {
      if (within !== thread) continue;
      this.things.delete(name);
      if (sender.as === "undo") this.broken.add("dependent destroyed");
    }
  }

  /** As the wire gives it back: an answer, an error with a status, or silence. */
  write(
    sender: Sender,
    change: Change,
    key: string,
  ): { readonly name: string; readonly value: string | null } {
    this.#refuseDead(sender);
    this.#touch();
    const { random, faults, clock } = this.options;
    const luck = random() / faults;
    if (luck < 0.1) throw new ConnectorError("connection refused");
    if (luck < 0.2) throw new ConnectorError("HTTP 429", { status: 429, retryAfterSeconds: 2 });
    const arrive = () => {
      const stored = this.#answers.get(key) ?? this.#apply(sender, change, key);
      this.#answers.set(key, stored);
      return stored;
    };
    const silence = () => {
      throw new EffectUncertainError("no answer", { idempotencyKey: key });
    };
    if (luck < 0.3) silence();
    if (luck < 0.5) {
      this.#late.push({ due: clock.now() + random() * 50_000, arrive });
      silence();
    }
    if (luck < 0.65) {
      arrive();
      silence();
    }
    if (luck < 0.75 && !this.#answers.has(key)) this.#answers.set(key, { status: 500 });
    else if (luck < 0.85 && !this.#answers.has(key)) {
      arrive();
      this.#answers.set(key, { status: 500 });
    } else if (luck < 1 && !sender.together && !this.#answers.has(key)) {
      const name = change.kind === "make" ? `${change.prefix}-${++this.#count}` : change.name;
      this.#answers.set(key, { status: 200, name, value: change.value });
    }
    const answer = arrive();
    if (answer.status >= 400) {
      const { status } = answer;
      throw new ConnectorError(`HTTP ${status}`, { status, mayHaveApplied: status >= 500 });
    }
    return answer as { name: string; value: string | null };
  }

  /** Whether something of a step's forward call stands now. */
  stands(step: number): boolean {
    return [...this.things.values()].some(({ owner }) => owner === step);
  }
}
