import type { CallScope } from "@reversi-connector/core";

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, /;

/** The seconds a `Retry-After` header asks for, or undefined when it says nothing usable (missing, garbage, past). */
export function retryAfter(header: string | undefined, now = Date.now()): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Number(text);
  if (!httpDate.test(text)) return undefined;
  const seconds = Math.ceil((Date.parse(text) - now) / 1000);
  return seconds > 0 ? seconds : undefined;
}

/** Waits `ms`; false, at once, when that does not fit the call's time, or when the call ends meanwhile. */
export function pause(
  ms: number,
  { signal, deadline }: Pick<CallScope, "signal" | "deadline">,
): Promise<boolean> {
  if (signal.aborted || Date.now() + ms >= deadline) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (waited: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      resolve(waited);
    };
    const cancel = () => end(false);
    const timer = setTimeout(end, ms, true);
    signal.addEventListener("abort", cancel, { once: true });
  });
}
