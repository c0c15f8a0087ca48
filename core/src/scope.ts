import type { OnConflict } from "./restore.ts";

/** What a tool makes durable before it writes. */
export interface Checkpoint {
  /** The part of the result known before the write. */
  readonly result: object;
  /** What `landed` needs besides, such as a version read before. */
  readonly evidence?: object;
}

/** What the caller of a tool may hand in beside the arguments. */
export interface Context {
  /** The caller's key for this very call. Without one, a tool that needs a key makes a random one. */
  readonly idempotencyKey?: string | undefined;
  /** Makes a checkpoint durable; the tool writes only after it resolved. */
  readonly checkpoint?: ((checkpoint: Checkpoint) => Promise<void>) | undefined;
  /** Cancels the call. A write already sent ends as `EffectUncertainError`. */
  readonly signal?: AbortSignal | undefined;
  /** The operator's word on a conflict; never an argument. */
  readonly onConflict?: OnConflict | undefined;
  /** Told about long work, at most a few times a second, never after the call has ended. What it throws is ignored. */
  readonly progress?: ((progress: Progress) => void) | undefined;
}
export interface Progress {
  readonly message: string;
  readonly done?: number;
  readonly total?: number;
}

/** The limits of one call, as a connection needs them. */
export interface CallScope {
  /**
   * Aborts when the caller cancels or the call's time is over. A write whose handler then ends with the signal's own
   * `reason` has an unknown outcome: only an error of the connection's own can say that nothing was sent.
   */
  readonly signal: AbortSignal;
  /** When the call's time is over, in milliseconds since 1970. */
  readonly deadline: number;
  readonly progress: (progress: Progress) => void;
}

/** A connector's only way to its backend. */
export interface Connection<Client, Reader = Client> {
  /** For one call of a tool. */
  client(scope: CallScope): Client;
  /** For one question (`holds`, `landed`): a client without any method that writes. */
  reader(scope: CallScope): Reader;
  close(): Promise<void>;
}
