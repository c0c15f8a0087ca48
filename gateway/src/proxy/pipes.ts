import { lineSplitter, maxLineBytes } from "@reversi-connector/core/program";
import type { Upstream } from "./upstream.ts";

/** Both ends of the gateway, with each side held back while the other is full. */
export function pipes() {
  const { stdin, stdout } = process;
  let upstream: Upstream | undefined;
  let hasReader = true;
  const broken = new Promise<"broken">((resolve) => {
    stdout.on("error", () => {
      hasReader = false;
      // There will be no drain, and the outcome of a write in flight must still be heard.
      upstream?.resume();
      resolve("broken");
    });
  });
  stdout.on("drain", () => upstream?.resume());
  return {
    broken,
    toClient: (line: string | Buffer) => {
      if (hasReader && !stdout.write(line)) upstream?.pause();
    },
    toUpstream: (line: string | Buffer) => {
      if (upstream?.send(line) === false) stdin.pause();
    },
    upstreamDrained: () => void stdin.resume(),
    attach(started: Upstream) {
      upstream = started;
    },
    /** Resolves when stdin ended. */
    read(onLine: (line: Buffer) => void, onLong: Parameters<typeof lineSplitter>[2]): Promise<"end"> {
      const lines = lineSplitter(maxLineBytes, onLine, onLong);
      return new Promise((resolve) => {
        const end = () => {
          lines.end();
          resolve("end");
        };
        stdin
          .on("data", (chunk: Buffer) => lines.push(chunk))
          .once("end", end)
          .once("error", end);
      });
    },
    /** Resolves when everything written so far is out, or nobody reads it. */
    flush: () =>
      Promise.race([broken, new Promise<void>((resolve) => void stdout.write("", () => resolve()))]),
  };
}
