import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Head } from "./chain.ts";
import { RunBusyError } from "./errors.ts";
import type { Lock } from "./storage.ts";

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process began, where the system tells: numbers of processes are used again. */
  readonly born: string | null;
  readonly since: string;
  readonly released?: true;
  readonly known?: Head;
}

/** Locks of this process, shared by every installed copy of this package. */
const holding = Symbol.for("@reversi-connector/engine/locks");
const shared = globalThis as { [holding]?: Set<string> };
shared[holding] ??= new Set();
const mine = shared[holding];

const bornOf = (pid: number): Promise<string | null> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null,
    () => null,
  );

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
};

async function alive({ pid, host, born, released }: Holder, path: string): Promise<boolean> {
  if (released) return false;
  if (host !== hostname()) return true;
  if (pid === process.pid) return mine.has(path);
  return exists(pid) && (born === null || (await bornOf(pid)) === born);
}

const isCode = (error: unknown, code: string) => (error as { code?: string } | null)?.code === code;

/**
 * A lock is a row of numbered files. The highest number is the lock, and stays as the word of its last holder; it is
 * superseded by the next number, never removed, only when that holder released it or is gone. So two processes that
 * both find a dead holder cannot both win: one creates the next number, the other finds it taken.
 */
export function lockIn(folder: string, run: string) {
  const pathOf = (number: number) => join(folder, String(number));
  const numbers = async (): Promise<number[]> => {
    const names = await readdir(folder).catch((error) => {
      if (isCode(error, "ENOENT")) return [];
      throw error;
    });
    return names
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .sort((a, b) => b - a);
  };
  const last = async (): Promise<{ number: number; holder: Holder } | undefined> => {
    const [number] = await numbers();
    if (number === undefined) return undefined;
    const text = await readFile(pathOf(number), "utf8").catch((error) => {
      if (isCode(error, "ENOENT")) return undefined;
      throw error;
    });
    return text === undefined ? last() : { number, holder: JSON.parse(text) };
  };
  /** A file that appears complete or not at all. */
  const publish = async (holder: Holder, place: (draft: string) => Promise<void>) => {
    const draft = join(folder, `${randomUUID()}.draft`);
    await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
    await place(draft).finally(() => unlink(draft).catch(() => {}));
  };
  const busy = ({ pid, host, since }: Holder) =>
    new RunBusyError(run, `process ${pid} on ${host} since ${since}`);

  async function acquire(): Promise<Lock> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await last();
    if (found && (await alive(found.holder, pathOf(found.number)))) throw busy(found.holder);
    const number = (found?.number ?? 0) + 1;
    const path = pathOf(number);
    const known = found?.holder.known;
    const holder: Holder = {
      pid: process.pid,
      host: hostname(),
      born: await bornOf(process.pid),
      since: new Date().toISOString(),
      ...(known && { known }),
    };
    mine.add(path);
    try {
      await publish(holder, (draft) => link(draft, path));
      const [highest] = await numbers();
      if (highest !== number) {
        await unlink(path);
        throw busy((await last())?.holder ?? holder);
      }
    } catch (error) {
      mine.delete(path);
      if (!isCode(error, "EEXIST")) throw error;
      throw busy((await last())?.holder ?? holder);
    }
    for (const older of (await numbers()).filter((n) => n < number))
      await unlink(pathOf(older)).catch(() => {});
    const release = async (head: Head | undefined) => {
      const word: Holder = { ...holder, released: true, ...(head && { known: head }) };
      await publish(word, (draft) => rename(draft, path));
      mine.delete(path);
    };
    return { known, release };
  }
  return { acquire, known: async () => (await last())?.holder.known };
}
