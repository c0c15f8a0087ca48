import { ConnectorError } from "@reversi-connector/core";

export type ApprovalMode = "elicit" | "refuse" | "allow";

/** What came of asking a person. */
export type Approval = "accept" | "decline" | "cancel" | "unsupported";

const ways =
  "A person can allow such calls with --approval allow, or serve this connector behind a gateway that asks.";
const refusals: Readonly<
  Record<Exclude<Approval, "accept"> | "refuse", readonly [reason: string, text: string]>
> = {
  decline: ["approval_declined", "a person declined this call"],
  cancel: ["approval_cancelled", "the question was closed without an answer; it may be asked again"],
  unsupported: ["approval_unsupported", `this client cannot ask a person. ${ways}`],
  refuse: ["approval_refused", `this server is started with --approval refuse. ${ways}`],
};

const longestShown = 2000;

/** What a person is asked. The arguments are shown, not explained. */
export const approvalQuestion = (tool: string, description: string, args: unknown): string => {
  const shown = JSON.stringify(args ?? {});
  const cut = shown.length > longestShown ? `${shown.slice(0, longestShown)}…` : shown;
  return `${tool} cannot be undone. ${description}\nArguments: ${cut}\nRun it?`;
};

/**
 * Returns when a call that cannot be undone may run.
 * @throws ConnectorError saying who or what refused; nothing was sent
 */
export async function approve(tool: string, mode: ApprovalMode, ask: () => Promise<Approval>): Promise<void> {
  if (mode === "allow") return;
  const answer = mode === "refuse" ? "refuse" : await ask();
  if (answer === "accept") return;
  const [reason, text] = refusals[answer];
  throw new ConnectorError(
    `${tool} needs a person's approval: ${text}. Nothing was sent`.replace("..", "."),
    {
      reason,
    },
  );
}
