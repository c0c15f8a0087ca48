import type { SandboxRequest } from "./message.ts";

/** What goes wrong on the wire. "Takes effect" means that the vendor's handler runs. */
export type Fault =
  /** No connection is accepted until `clear()`. */
  | { readonly kind: "refuse" }
  /** The connection ends after the request was read; it takes no effect. `reset` sends RST in place of FIN. */
  | { readonly kind: "cutBefore"; readonly reset?: boolean }
  /** It takes effect, then the connection ends without a byte of an answer. */
  | { readonly kind: "cutAfter"; readonly reset?: boolean }
  /** The connection ends at once; it takes effect when `until` resolves, or at `settle()`. */
  | { readonly kind: "late"; readonly until?: Promise<unknown> }
  /** No answer ever; it takes effect only with `effect`. */
  | { readonly kind: "hang"; readonly effect?: boolean }
  /** It takes effect; the answer's body ends half way. `chunked` announces no length and sends no last chunk. */
  | { readonly kind: "cutBody"; readonly chunked?: boolean }
  /** It takes effect; the body comes byte by byte. 1,000 ms when left out; Infinity: one byte, then silence. */
  | { readonly kind: "slowBody"; readonly everyMs?: number }
  /** It takes effect; the answer is a success with a body that is not what it should be. */
  | { readonly kind: "garbage"; readonly body?: string | Uint8Array }
  /** This status; it takes effect only with `effect`. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly effect?: boolean;
      readonly headers?: Readonly<Record<string, string>>;
      /** The vendor's error body when left out. */
      readonly body?: unknown;
    }
  /** 401 when left out. */
  | { readonly kind: "deny"; readonly status?: 401 | 403 }
  /** The vendor's form of 429. A number is in seconds. */
  | { readonly kind: "rateLimit"; readonly retryAfter?: number | string }
  /** An error that repeats what it was sent, credentials included, or `text`. 400 and JSON when left out. */
  | {
      readonly kind: "echo";
      readonly status?: number;
      readonly as?: "json" | "html" | "text" | "header";
      readonly text?: string;
    };

/** Which requests a fault meets; all when left out. */
export interface Where {
  readonly method?: string;
  /** Against the raw path: the whole of it without its query, a pattern, or a test. */
  readonly path?: string | RegExp | ((path: string) => boolean);
  /** How many of them go well first; 0 when left out. */
  readonly skip?: number;
  /** How many of them it meets then; 1 when left out, Infinity until `clear()`. */
  readonly times?: number;
}

interface Armed {
  readonly fault: Fault;
  readonly where: Where;
  skip: number;
  times: number;
}

const fits = ({ method, path }: Where, request: SandboxRequest): boolean => {
  if (method !== undefined && method !== request.method) return false;
  if (path === undefined) return true;
  if (typeof path === "string") return path === request.pathname;
  return typeof path === "function" ? path(request.path) : request.path.search(path) !== -1;
};

/** The faults to come. */
export function faults() {
  let armed: Armed[] = [];
  return {
    add: (fault: Fault, where: Where) => {
      armed.push({ fault, where, skip: where.skip ?? 0, times: where.times ?? 1 });
    },
    clear: () => {
      armed = [];
    },
    /** The fault that `request` meets; `last` when connections are refused from here on. */
    take(request: SandboxRequest): { readonly fault: Fault | undefined; readonly last: boolean } {
      let fault: Fault | undefined;
      let last = false;
      for (const entry of armed) {
        if (entry.times <= 0 || !fits(entry.where, request)) continue;
        if (entry.skip > 0) {
          entry.skip--;
          last ||= entry.skip === 0 && entry.fault.kind === "refuse";
        } else if (!fault && entry.fault.kind !== "refuse") {
          entry.times--;
          fault = entry.fault;
        }
      }
      return { fault, last };
    },
  };
}
