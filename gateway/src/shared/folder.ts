import { randomUUID } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hasCode } from "./usage.ts";

const pollMs = 500;

/**
 * Calls `onChange` when something in a folder may have changed, until the returned function is called. Where the system
 * cannot tell, it asks twice a second.
 */
export function watchFolder(folder: string, onChange: () => void): () => void {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const poll = () => {
    timer ??= setInterval(onChange, pollMs).unref();
  };
  try {
    watcher = watch(folder, { persistent: false }, onChange).on("error", poll);
  } catch {
    poll();
  }
  return () => {
    watcher?.close();
    clearInterval(timer);
  };
}

export const ensureFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
};

/** A file that appears complete or not at all. */
export async function writeWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.draft`;
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, path);
}

/** True when this call removed the file, false when it was gone. */
export async function remove(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The names in a folder that end so, without that end; none when there is no folder. */
export async function namesIn(folder: string, end: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith(end)).map((name) => name.slice(0, name.length - end.length));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
