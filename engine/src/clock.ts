import { setTimeout as pause } from "node:timers/promises";

/** Time as the engine sees it; tests bring their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends after `ms`; rejects when the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => pause(ms, undefined, signal ? { signal } : {}),
};
