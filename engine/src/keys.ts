import { canonicalJson, hashOf } from "@reversi-connector/core";

const domain = "reversi/v1";

/** A compensation call: what it takes to undo a step. */
export interface UndoCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The key of a step's forward call: the same after a restart. */
export const forwardKey = (run: string, step: number): string => hashOf([domain, run, step, "forward"]);

/**
 * The key of a step's undo, in a domain of its own: a stored forward answer can never answer it. `epoch` counts the
 * answered failures; after an unknown outcome it stays, so that a request which arrived is replayed, not repeated.
 */
export const compensateKey = (run: string, step: number, undo: UndoCall, epoch: number): string =>
  hashOf([domain, run, step, "compensate", undo.tool, canonicalJson(undo.args), epoch]);

/** What an approval is bound to: exactly this tool, these arguments and this manifest, in this run. */
export const approvalDigest = (run: string, tool: string, args: object, manifest: string): string =>
  hashOf([domain, run, "approval", tool, canonicalJson(args), manifest]);
