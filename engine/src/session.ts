import type { Manifest } from "@reversi-connector/core";
import type { Clock } from "./clock.ts";
import type { Edges } from "./edges.ts";
import { RefusedError } from "./errors.ts";
import type { RunLog } from "./journal.ts";
import type { Event } from "./records.ts";
import type { Registry } from "./registry.ts";
import { type RunState, reduce } from "./state.ts";

/** What everything that acts on one run shares. */
export interface Session {
  readonly state: RunState;
  readonly log: RunLog;
  readonly clock: Clock;
  readonly registry: Registry | undefined;
  readonly edges: Edges | undefined;
  /** How long a forward call may take by itself, in milliseconds. */
  readonly callTimeoutMs: number;
  /** How long after that time a request is still expected to arrive at the backend. */
  readonly graceMs: number;
  /** Forward calls that have not ended. */
  readonly inFlight: Map<number, { readonly ended: Promise<unknown>; readonly cancel: AbortController }>;
  nextStep: number;
}

/** Writes an event down and lets it act on the state. Resolves when it is durable; without `sync`, at once. */
export async function record(session: Session, event: Event, sync = true): Promise<void> {
  const written = session.log.append(event, { sync });
  reduce(session.state, written.record);
  await written.durable;
}

/** Writes a manifest, and its compensation's, into the journal when the run uses it for the first time. */
export function recordManifest({ state, log }: Session, registry: Registry, manifest: Manifest): string {
  const hash = registry.hash(manifest.tool);
  if (state.manifests.has(hash)) return hash;
  const undo = registry.undoOf(manifest.tool);
  const undoHash = undo ? recordManifest({ state, log } as Session, registry, undo) : null;
  reduce(state, log.append({ type: "manifest", hash, manifest, undo: undoHash }, { sync: false }).record);
  return hash;
}

export function refuseFenced({ state }: Session): void {
  if (!state.fenced) return;
  throw new RefusedError(
    "fenced",
    `run ${state.run} is being rolled back: it takes no new calls. Begin another run.`,
  );
}
