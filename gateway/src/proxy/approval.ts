import { userInfo } from "node:os";
import type { Approval, ApprovalRequest } from "@reversi-connector/engine";
import type { Log } from "../shared/log.ts";
import { isOver, type Question, type Queue } from "../shared/queue.ts";
import { messageOf } from "../shared/usage.ts";
import type { Fields } from "./messages.ts";

export type ApprovalMode = "elicit" | "queue" | "refuse";
export const approvalModes: readonly ApprovalMode[] = ["elicit", "queue", "refuse"];

/** The agent's client, as far as it can ask its user. */
export interface Asker {
  /** Who it says it is. */
  readonly name: string;
  /** It declared that it can put a question to its user. */
  readonly canAsk: boolean;
  ask(params: Fields, signal: AbortSignal): Promise<Fields>;
}
export interface ApprovalOptions {
  readonly mode: ApprovalMode;
  readonly queue: Queue;
  /** How long a call waits for an answer from the queue, in milliseconds. */
  readonly waitMs: number;
  readonly log: Log;
  client(): Asker;
}

const longestShown = 2000;
const otherWay = "start the gateway with --approval queue, so that an operator can approve it";

function question({ tool, args, reason, run, manifest }: ApprovalRequest): string {
  const shown = JSON.stringify(args);
  const cut = shown.length > longestShown ? `${shown.slice(0, longestShown).toWellFormed()}…` : shown;
  const permanent =
    manifest.effect === "irreversible" ? `${tool} cannot be undone.` : `${tool} needs a person's word.`;
  const why = reason === undefined ? "" : `\nReason given: ${reason}`;
  return `${permanent} ${manifest.description}\nArguments: ${cut}${why}\nRun it? (${run})`;
}

async function elicit(request: ApprovalRequest, client: Asker, signal: AbortSignal): Promise<Approval> {
  const no = (why: string) => ({ approved: false, by: `client ${client.name}`, why });
  if (!client.canAsk) return no(`this client cannot ask a person; ${otherWay}`);
  const requestedSchema = { type: "object", properties: {} };
  try {
    const { action } = await client.ask({ message: question(request), requestedSchema }, signal);
    if (action === "accept") return { approved: true, by: `client ${client.name}` };
    return no(
      action === "decline"
        ? "a person declined it"
        : "the question was closed without an answer; it may be asked again",
    );
  } catch (error) {
    return no(`the client did not answer the question (${messageOf(error)}); it may be asked again`);
  }
}

const operator = (): string => {
  try {
    return userInfo().username;
  } catch {
    return "gateway";
  }
};

/** Waits until the question is answered, the time is over, or the call was given up. */
async function answered(
  queue: Queue,
  { id }: Question,
  waitMs: number,
  signal: AbortSignal,
): Promise<Question | undefined> {
  let stop = () => {};
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Question | undefined>((resolve, reject) => {
      const look = async () => {
        const now = await queue.get(id);
        if (now?.answer || !now) resolve(now);
      };
      const looking = () => void look().catch(reject);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
      timer = setTimeout(() => resolve(undefined), waitMs);
      queue.watch(looking).then((end) => {
        stop = end;
        looking();
      }, reject);
    });
  } finally {
    clearTimeout(timer);
    stop();
  }
}

async function viaQueue(
  request: ApprovalRequest,
  { queue, waitMs, log }: ApprovalOptions,
  signal: AbortSignal,
): Promise<Approval> {
  const standing = await queue.about(request.digest);
  if (standing && isOver(standing)) await queue.take(standing.id);
  const asked = standing && !isOver(standing) ? standing : await queue.ask(request);
  if (!asked.answer)
    log.say(`${request.tool} waits for a person: reversi approve ${asked.id}, or reversi deny ${asked.id}`);
  const question = asked.answer ? asked : await answered(queue, asked, waitMs, signal);
  const { answer, id } = question ?? asked;
  if (!answer) {
    const why = `nobody answered yet. Ask an operator to run \`reversi approve ${id}\`, then make exactly the same call again`;
    return { approved: false, by: operator(), why };
  }
  if (!(await queue.take(id)))
    return { approved: false, by: answer.by, why: "that approval was used by another call" };
  const { approved, by, expires, why } = answer;
  return { approved, by, digest: asked.digest, id, ...(expires && { expires }), ...(why && { why }) };
}

/** Puts a call before a person in the way that was chosen. */
export function approve(
  request: ApprovalRequest,
  options: ApprovalOptions,
  signal: AbortSignal,
): Promise<Approval> {
  switch (options.mode) {
    case "elicit":
      return elicit(request, options.client(), signal);
    case "queue":
      return viaQueue(request, options, signal);
    case "refuse":
      return Promise.resolve({
        approved: false,
        by: operator(),
        why: `this gateway was started with --approval refuse; ${otherWay}`,
      });
  }
}
