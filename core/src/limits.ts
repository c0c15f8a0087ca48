import { ConnectorError } from "./errors.ts";
import type { Redactor } from "./redact.ts";
import type { CallScope, Context, Progress } from "./scope.ts";

/** How long a call may go on after its end was signalled, so that the connection can say itself what happened. */
const graceMs = 250;

const rejection = () => {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  promise.catch(() => {});
  return { promise, reject };
};

interface Limits {
  readonly timeoutMs: number;
  /** For what is told of the call's progress. */
  readonly messages: Redactor;
}

/** Starts the clock of one call: `stopped` rejects when its time is up, `over` when it has not ended soon after that. Call `end`. */
export function begin({ signal, progress }: Context, { timeoutMs, messages }: Limits) {
  const controller = new AbortController();
  const stopped = rejection();
  const over = rejection();
  let overdue: NodeJS.Timeout | undefined;
  let ended = false;
  const stop = (why: string) => {
    if (controller.signal.aborted) return;
    const reason = new ConnectorError(why);
    controller.abort(reason);
    stopped.reject(reason);
    overdue = setTimeout(() => over.reject(reason), graceMs);
  };
  const cancel = () => stop("cancelled");
  const timer = setTimeout(() => stop(`no answer within ${timeoutMs} ms`), timeoutMs);
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
  const tell = (news: Progress) => {
    if (ended || !progress) return;
    try {
      progress({ ...news, message: messages.text(news.message) });
    } catch {
      // A listener's mistake must not break off a write.
    }
  };
  const scope: CallScope = { signal: controller.signal, deadline: Date.now() + timeoutMs, progress: tell };
  const end = () => {
    ended = true;
    clearTimeout(timer);
    clearTimeout(overdue);
    signal?.removeEventListener("abort", cancel);
  };
  return { scope, stopped: stopped.promise, over: over.promise, end };
}
