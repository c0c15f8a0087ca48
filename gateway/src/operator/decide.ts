import { readFileSync } from "node:fs";
import { Run } from "@reversi-connector/engine";
import { approvalQueue, isOver } from "../shared/queue.ts";
import { didYouMean, exitCode, messageOf, UsageError } from "../shared/usage.ts";
import { checkRun, journalIn, lookAt } from "./history.ts";
import { callText, print } from "./output.ts";
import { operator } from "./rollback.ts";

/** How long an approval is good, in milliseconds. */
const approvalLifeMs = 15 * 60_000;

/** `reversi approve ID` and `reversi deny ID` */
export async function decide(
  data: string,
  id: string,
  approved: boolean,
  by = operator(),
  why?: string,
): Promise<void> {
  journalIn(data);
  const queue = approvalQueue(data);
  const question = await queue.get(id);
  if (!question) {
    const open = (await queue.list()).filter(({ answer }) => !answer).map((one) => one.id);
    throw new UsageError(`nothing waits under ${id}.${didYouMean(id, open)} See: reversi runs`);
  }
  if (question.answer) {
    throw new UsageError(
      `${id} was ${question.answer.approved ? "approved" : "denied"} by ${question.answer.by} already`,
    );
  }
  if (isOver(question)) throw new UsageError(`${id} is too old: nobody waits for it since ${question.until}`);
  const now = Date.now();
  const expires = new Date(now + approvalLifeMs).toISOString();
  const at = new Date(now).toISOString();
  const reason = why ?? (approved ? undefined : `${by} denied it`);
  await queue.answer(question, {
    approved,
    by,
    at,
    ...(approved && { expires }),
    ...(reason !== undefined && { why: reason }),
  });
  const what = callText(question);
  await print(
    approved
      ? `Approved for one call until ${expires}, exactly as it stands here: ${what}\n`
      : `Denied: ${what}\n`,
  );
}

function resultIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"));
  } catch (error) {
    throw new UsageError(`--applied ${file}: it must hold the call's result as JSON: ${messageOf(error)}`);
  }
}

/** `reversi resolve RUN STEP` */
export async function resolve(
  data: string,
  run: string,
  step: number,
  { applied, evidence }: { readonly applied: string | undefined; readonly evidence: string | undefined },
): Promise<void> {
  const journal = journalIn(data);
  await checkRun(journal, run);
  const resolution = applied === undefined ? ("not_applied" as const) : { applied: resultIn(applied) };
  if (!(await lookAt(journal, run)).steps.has(step)) {
    throw new UsageError(`run ${run} has no step ${step} that writes. See: reversi show ${run}`);
  }
  const taken = await Run.resume({ journal, run });
  try {
    const by = operator();
    const rests = evidence ?? (applied === undefined ? "the operator's word" : `the result in ${applied}`);
    await taken.resolve(step, resolution, rests, by).catch((error) => {
      throw new UsageError(messageOf(error), exitCode.failed);
    });
    await print(
      `Step ${step} of run ${run}: ${applied === undefined ? "not applied" : "applied"}, on the word of ${by}.\n`,
    );
  } finally {
    await taken.close();
  }
}
