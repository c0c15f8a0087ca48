import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ApprovalRequest } from "@reversi-connector/engine";
import { ensureFolder, namesIn, readText, remove, watchFolder, writeWhole } from "./folder.ts";

/** A question to a person, as a file that the operator's command answers. */
export interface Question {
  readonly id: string;
  readonly run: string;
  readonly step: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Stands for exactly this tool, these arguments and this manifest in this run. */
  readonly digest: string;
  readonly asked: string;
  /** After this nobody waits for an answer any more. */
  readonly until: string;
  readonly answer?: Answer;
}
export interface Answer {
  readonly approved: boolean;
  readonly by: string;
  readonly at: string;
  /** An approval is good until then, for one call. */
  readonly expires?: string;
  readonly why?: string;
}

const questionLifeMs = 60 * 60_000;

/** Questions under `<data>/approvals/`, one file each. */
export interface Queue {
  ask(
    request: Pick<ApprovalRequest, "run" | "step" | "tool" | "args" | "reason" | "digest">,
  ): Promise<Question>;
  get(id: string): Promise<Question | undefined>;
  /** The question about exactly this call, answered or not. */
  about(digest: string): Promise<Question | undefined>;
  list(): Promise<Question[]>;
  answer(question: Question, answer: Answer): Promise<void>;
  /** Takes a question away; false when somebody else did. */
  take(id: string): Promise<boolean>;
  watch(onChange: () => void): Promise<() => void>;
}

export const isOver = ({ until, answer }: Question, now = Date.now()): boolean =>
  !(now < Date.parse(answer?.expires ?? until));

export function approvalQueue(data: string): Queue {
  const folder = join(data, "approvals");
  const pathOf = (id: string) => join(folder, `${id}.json`);
  const put = async (question: Question) => {
    await ensureFolder(folder);
    await writeWhole(pathOf(question.id), `${JSON.stringify(question)}\n`);
  };
  const get = async (id: string): Promise<Question | undefined> => {
    if (!/^[0-9a-f]{4,32}$/.test(id)) return undefined;
    const text = await readText(pathOf(id));
    return text === undefined ? undefined : JSON.parse(text);
  };
  const list = async () => {
    const questions = await Promise.all((await namesIn(folder, ".json")).map(get));
    return questions
      .filter((question) => question !== undefined)
      .sort((a, b) => (a.asked < b.asked ? -1 : 1));
  };
  return {
    get,
    list,
    async ask({ run, step, tool, args, reason, digest }) {
      const now = Date.now();
      const question: Question = {
        id: randomBytes(4).toString("hex"),
        run,
        step,
        tool,
        args,
        ...(reason !== undefined && { reason }),
        digest,
        asked: new Date(now).toISOString(),
        until: new Date(now + questionLifeMs).toISOString(),
      };
      await put(question);
      return question;
    },
    about: async (digest) => (await list()).find((question) => question.digest === digest),
    answer: (question, answer) => put({ ...question, answer }),
    take: (id) => remove(pathOf(id)),
    async watch(onChange) {
      await ensureFolder(folder);
      return watchFolder(folder, onChange);
    },
  };
}
