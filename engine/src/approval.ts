import { randomUUID } from "node:crypto";
import type { Manifest } from "@reversi-connector/core";
import { RefusedError } from "./errors.ts";
import { approvalDigest } from "./keys.ts";
import { record, recordManifest, type Session } from "./session.ts";

/** What a person is asked. */
export interface ApprovalRequest {
  readonly run: string;
  readonly step: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly reason: string | undefined;
  readonly manifest: Manifest;
  /** Stands for exactly this tool, these arguments and this manifest in this run. */
  readonly digest: string;
}
/** What a person answered. */
export interface Approval {
  readonly approved: boolean;
  /** Who. */
  readonly by: string;
  /** What was approved; an answer to another question is refused. The asked digest when left out. */
  readonly digest?: string;
  /** ISO 8601; five minutes from the answer when left out. */
  readonly expires?: string;
  /** An approval given beforehand has an id, and is good for one call. */
  readonly id?: string;
  readonly why?: string;
}
export type Approve = (request: ApprovalRequest) => Promise<Approval>;

const lifetimeMs = 5 * 60_000;

/** Why an answer does not allow the call; undefined when it does. */
function objection(
  answer: Approval,
  digest: string,
  expires: string,
  { state, clock }: Session,
): string | undefined {
  if (!answer.approved) return answer.why ?? "denied";
  if ((answer.digest ?? digest) !== digest) return "the approval is for another call";
  if (!(clock.now() < Date.parse(expires))) return `the approval expired at ${expires}`;
  if (answer.id !== undefined && state.approvals.has(answer.id)) return "the approval was used before";
  return undefined;
}

/**
 * Asks whether a call that needs a person's word may be made.
 * @throws RefusedError when it may not, or nobody is there to ask
 */
export async function askApproval(
  session: Session,
  approve: Approve | undefined,
  { step, manifest, args, reason }: Pick<ApprovalRequest, "step" | "manifest" | "args" | "reason">,
): Promise<void> {
  const { state, clock, registry } = session;
  const { tool } = manifest;
  const hash = registry ? recordManifest(session, registry, manifest) : "";
  const digest = approvalDigest(state.run, tool, args, hash);
  await record(session, { type: "awaiting_approval", step, tool, args, manifest: hash, digest }, false);
  const refuse = async (why: string, by: string): Promise<never> => {
    await record(session, { type: "denied", step, digest, by, why });
    throw new RefusedError("approval", `${tool} needs an approval: ${why}. Nothing was sent.`);
  };
  if (!approve) return refuse("nobody is there to ask", "engine");
  const request = { run: state.run, step, tool, args, reason, manifest, digest };
  let answer: Approval;
  try {
    answer = await approve(request);
  } catch (error) {
    return refuse(`asking failed (${(error as { message?: unknown } | null)?.message ?? error})`, "engine");
  }
  const { by, id = randomUUID(), expires = new Date(clock.now() + lifetimeMs).toISOString() } = answer;
  const why = objection(answer, digest, expires, session);
  if (why !== undefined) return refuse(why, by);
  await record(session, { type: "approved", step, id, digest, by, expires });
}
