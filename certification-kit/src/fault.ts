import type { Exchange } from "./contract.ts";

/**
 * What goes wrong between a connector and its backend, in words that no protocol owns. A `status` is whatever the
 * backend says no with: an HTTP status, an SQLSTATE, a vendor's code. "Takes effect" means that the backend acts on it.
 */
export type Fault =
  /** Nobody listens: not one byte of the request leaves. */
  | { readonly kind: "unreachable" }
  /** The backend says no, for a reason of its own. It takes no effect. */
  | { readonly kind: "refuse"; readonly status: string }
  /** The backend does not accept the credential, or its rights. */
  | { readonly kind: "deny"; readonly status: string }
  /** The connection ends after the request was sent; it takes no effect. */
  | { readonly kind: "cutBefore" }
  /** It takes effect, and the connection ends without an answer. */
  | { readonly kind: "cutAfter" }
  /** The connection ends at once; it takes effect at `settle()`. */
  | { readonly kind: "late" }
  /** No answer ever; it takes effect only with `effect`. */
  | { readonly kind: "hang"; readonly effect: boolean }
  /** It takes effect; the answer begins and then stops coming. */
  | { readonly kind: "stall" }
  /** The backend breaks down; it takes effect only with `effect`. `stored`: the answer is kept under the request's key. */
  | {
      readonly kind: "serverError";
      readonly status: string;
      readonly effect: boolean;
      readonly stored?: boolean;
    }
  /** It takes effect; the answer ends half way. */
  | { readonly kind: "cutBody" }
  /** It takes effect; a success with this body in place of the right one. */
  | { readonly kind: "garbage"; readonly body: string }
  /** Too many requests; it takes no effect. */
  | { readonly kind: "rateLimit" }
  /** A refusal that repeats what it was sent, credential included, or `text`. It takes no effect. */
  | { readonly kind: "echo"; readonly status: string; readonly as: EchoForm; readonly text?: string };

export type EchoForm = "json" | "html" | "text" | "header";

/** A request as the backend saw it. */
export interface SentRequest {
  /** What it is, for people: `POST /items`. */
  readonly line: string;
  /** Everything a log or a proxy on the way would keep: URL and body, without the headers. */
  readonly open: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it may change anything. */
  readonly writes: boolean;
  /** It went over a connection that stood already: at such a request nobody is unreachable, only lost. */
  readonly connected?: boolean;
  /** Whether the backend acted on it. */
  readonly handled: boolean;
  /** What it was answered with; undefined where no answer was begun. */
  readonly status: string | undefined;
  /** Whether a whole answer was sent, where the wire tells: an answer without a body has none to stop in. */
  readonly answered?: boolean;
}

/** With what a backend refuses, at its own wire. */
export interface Statuses {
  /** Definite refusals, such as "400" and "422". */
  readonly refuse: readonly string[];
  /** For a credential, or rights, that are not accepted. */
  readonly deny: readonly string[];
  /** For a breakdown in the backend. */
  readonly serverError: readonly string[];
}

/** The way between a connector and its backend, and everything that can happen on it. */
export interface Wire {
  readonly statuses: Statuses;
  /** In order of arrival, since the last `forget()`. */
  readonly requests: readonly SentRequest[];
  /** What the sandbox did wrong by itself; nothing that a connector can be blamed for. */
  readonly mistakes?: readonly unknown[];
  forget(): void;
  /** Arms a fault for the request that comes after `skip` others, and for `times` in all; once when left out. */
  inject(fault: Fault, skip: number, times?: number): void;
  /**
   * Runs `action` when the request after `skip` others has arrived, and before the backend acts on it. A wire whose
   * backend is changed asynchronously waits for what it returns.
   */
  before(skip: number, action: () => unknown): void;
  /** Disarms all faults. Late deliveries stay under way. */
  clear(): Promise<void>;
  /** Lets late deliveries take effect. */
  settle(): Promise<void>;
  /** The connector's process is gone, and with it every connection: where a backend holds something for one. */
  hangUp?(): void;
  /** Tells what the backend's stand-in answers from now on, whatever becomes of it on the way. */
  observe?(listener: (exchange: Exchange) => void): void;
  /** Sends a copy of a recorded request, changed, past the connector; undefined where that makes no sense. */
  replay?(request: SentRequest, change: Change): Promise<string | undefined>;
}

/** How a malformed twin differs from a good request. */
export type Change =
  | { readonly kind: "none" }
  | { readonly kind: "withoutHeader"; readonly header: string }
  | { readonly kind: "header"; readonly header: string; readonly value: string }
  | { readonly kind: "unknownQuery" }
  | { readonly kind: "unknownField" }
  | { readonly kind: "brokenBody" }
  | { readonly kind: "contentType" }
  | { readonly kind: "wrongId" };
