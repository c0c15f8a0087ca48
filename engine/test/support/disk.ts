import type { Clock, Head, Lock, Log, Storage } from "@reversi-connector/engine";

/** Deterministic numbers in [0, 1): the same seed gives the same history. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Time that passes only when somebody waits. */
export function virtualClock(start = Date.UTC(2026, 0, 1)): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    sleep: async (ms) => {
      now += ms;
    },
  };
}

/** One life of a program. After its death nothing it does has an effect. */
export interface Life {
  dead: boolean;
  /** The program dies at this write to its journal; never when undefined. */
  diesAt?: number | undefined;
  writes: number;
}
export const newLife = (diesAt?: number): Life => ({ dead: false, diesAt, writes: 0 });

export class Died extends Error {}

interface Content {
  durable: Buffer;
  /** Written, but not yet safe from a power cut. */
  pending: Buffer;
  known: Head | undefined;
}

/** A disk that outlives programs, and may lose what was not synced when one dies. */
export class Disk {
  readonly files = new Map<string, Content>();
  readonly syncs = new Map<string, number>();
  readonly #random: () => number;
  constructor(chance: () => number = () => 0) {
    this.#random = chance;
  }

  bytes(run: string): Buffer {
    const content = this.files.get(run);
    return content ? Buffer.concat([content.durable, content.pending]) : Buffer.alloc(0);
  }
  write(run: string, bytes: Buffer): void {
    this.files.set(run, { durable: bytes, pending: Buffer.alloc(0), known: this.files.get(run)?.known });
  }

  /** What a power cut leaves: everything synced, and any beginning of the rest. */
  #powerCut(): void {
    for (const content of this.files.values()) {
      const kept = Math.floor(this.#random() * (content.pending.length + 1));
      content.durable = Buffer.concat([content.durable, content.pending.subarray(0, kept)]);
      content.pending = Buffer.alloc(0);
    }
  }

  storage(life: Life = newLife()): Storage {
    const alive = () => {
      if (life.dead) throw new Died("this program is dead");
    };
    const die = () => {
      life.dead = true;
      this.#powerCut();
      throw new Died("the program died");
    };
    const fileOf = (run: string): Content => {
      const content = this.files.get(run);
      if (!content) throw Object.assign(new Error(`no file ${run}`), { code: "ENOENT" });
      return content;
    };
    const logOf = (run: string): Log => ({
      append: async (bytes) => {
        alive();
        life.writes++;
        const dies = life.writes === life.diesAt;
        const when = dies ? this.#random() : 1;
        if (when < 1 / 3) die();
        const content = fileOf(run);
        content.pending = Buffer.concat([content.pending, bytes]);
        if (when < 2 / 3) die();
        if (dies) life.diesAt = -1;
      },
      sync: async () => {
        alive();
        const content = fileOf(run);
        content.durable = Buffer.concat([content.durable, content.pending]);
        content.pending = Buffer.alloc(0);
        this.syncs.set(run, (this.syncs.get(run) ?? 0) + 1);
        if (life.diesAt === -1) die();
      },
      truncate: async (length) => {
        alive();
        const content = fileOf(run);
        content.durable = this.bytes(run).subarray(0, length);
        content.pending = Buffer.alloc(0);
      },
      close: async () => {},
    });
    return {
      list: async () => [...this.files.keys()],
      create: async (run) => {
        if (this.files.has(run)) throw Object.assign(new Error("exists"), { code: "EEXIST" });
        this.files.set(run, { durable: Buffer.alloc(0), pending: Buffer.alloc(0), known: undefined });
        return logOf(run);
      },
      open: async (run) => logOf(run),
      read: async function* (this: Disk, run: string) {
        fileOf(run);
        yield this.bytes(run);
      }.bind(this),
      lock: async (run): Promise<Lock> => ({
        known: this.files.get(run)?.known,
        release: async (head) => {
          const content = this.files.get(run);
          if (content && !life.dead) content.known = head;
        },
      }),
      known: async (run) => this.files.get(run)?.known,
    };
  }
}
