import type { ChildProcess } from "node:child_process";
import { hasCode } from "./usage.ts";

/**
 * How servers and compensators are started: as a group of their own, since they often run inside a wrapper that does not
 * pass signals on, and since Ctrl-C is for the program that started them.
 */
export const ownGroup = {
  detached: process.platform !== "win32",
  shell: process.platform === "win32",
  windowsHide: true,
} as const;

/** Signals a whole group; one that is gone already is none. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH", "EPERM")) throw error;
  }
}
