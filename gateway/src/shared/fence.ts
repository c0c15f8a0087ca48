import { join } from "node:path";
import { ensureFolder, readText, remove, watchFolder, writeWhole } from "./folder.ts";

/**
 * How an operator gets a run that a gateway is still writing: by a file `<data>/fences/<run>`. The gateway that finds it
 * takes no further calls, lets those in flight end, and gives the journal away.
 */
export interface Fence {
  raise(by: string): Promise<void>;
  lower(): Promise<void>;
  /** Calls `onRaised` once, when the file is there. Returns what stops the watching. */
  watch(onRaised: () => void): Promise<() => void>;
}

export function fenceOf(data: string, run: string): Fence {
  const folder = join(data, "fences");
  const path = join(folder, run);
  return {
    async raise(by) {
      await ensureFolder(folder);
      await writeWhole(path, `${JSON.stringify({ by, at: new Date().toISOString() })}\n`);
    },
    lower: async () => void (await remove(path)),
    async watch(onRaised) {
      await ensureFolder(folder);
      let raised = false;
      const look = async () => {
        if (raised || (await readText(path)) === undefined || raised) return;
        raised = true;
        stop();
        onRaised();
      };
      const stop = watchFolder(folder, () => void look().catch(() => {}));
      await look();
      return stop;
    },
  };
}
