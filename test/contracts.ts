import { existsSync } from "node:fs";
import { join } from "node:path";

const folder = process.env["REVERSI_CONTRACTS"];

/** Data that is not part of this repository, by its path from the folder that REVERSI_CONTRACTS names; "" without it. */
export function dataAt(relative: string): string {
  const path = folder === undefined ? "" : join(folder, relative);
  return existsSync(path) ? path : "";
}

/** A test that needs such data; without it, its title says that it was skipped, and what enables it. */
export const testOn =
  (path: string) =>
  (title: string, body: () => unknown, timeoutMs?: number): void =>
    path === ""
      ? test.skip(`${title} (skipped: REVERSI_CONTRACTS=<folder> enables it)`, body as () => void, timeoutMs)
      : test(title, body as () => void, timeoutMs);
