import { type OnConflict, s, threeWayRestore } from "@reversi-connector/core";
import { readStatus } from "./access.ts";
import { tool } from "./client.ts";
import { createIssue } from "./create.ts";
import { wasMoved } from "./history.ts";
import {
  already,
  type Issue,
  issueId,
  issueKey,
  issueName,
  type Status,
  statusId,
  statusIdOf,
  statusName,
} from "./objects.ts";
import { chosen, leadingTo, readTransitions, runTransition, type Transition } from "./workflow.ts";

const restored = (issue_id: string, { id, name }: Status, transition?: Transition) => ({
  ...{ issue_id, status: name, status_id: id },
  transition_id: transition?.id ?? null,
  already: transition === undefined,
});

interface Restore {
  readonly previous_status_id: string;
  readonly expected_status_id?: string;
}
/** Whether an issue is to be moved back. @throws ConflictError when it is in a status that somebody else chose */
const isToRestore = (
  { key, fields: { status } }: Issue<{ status: Status }>,
  { previous_status_id, expected_status_id }: Restore,
  onConflict: OnConflict | undefined,
): boolean => {
  const states = { before: previous_status_id, after: expected_status_id, now: status.id };
  const decision = threeWayRestore(states, {
    what: `status of issue ${key}`,
    same: (a, b) => a === b,
    describe: (id) => (id === status.id ? `${id} (${status.name})` : id),
    onConflict,
  });
  return decision === "restore";
};

export const restoreStatus = tool
  .idempotent("restore_status", {
    description:
      "Bring an issue back to a status through a workflow transition. An issue in that status is left alone.",
    permission: "jira:issues:transition",
    input: s.object(
      { issue_id: issueName, previous_status_id: statusId },
      {
        previous_status: s.string("Its name, for messages."),
        expected_status_id: statusIdOf("Status the undone step left."),
      },
    ),
    output: s.object({
      issue_id: issueId,
      status: statusName,
      status_id: statusId,
      transition_id: s.nullable(s.string("Transition run; null when none was needed.")),
      already,
    }),
    target: ["issue_id"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(
    async ({ client, args }) =>
      (await readStatus(client, args.issue_id)).fields.status.id === args.previous_status_id,
  )
  .run(async ({ client, args, onConflict }) => {
    const issue = await readStatus(client, args.issue_id);
    if (!isToRestore(issue, args, onConflict)) return restored(issue.id, issue.fields.status);
    const transitions = await readTransitions(client, issue.id);
    const back = leadingTo(transitions, args.previous_status_id, args.previous_status);
    await runTransition(client, issue.id, back);
    return restored(issue.id, back.to, back);
  });

/** What a transition leaves, all of it known before it is run. */
const foreseen = ({ id, key, fields }: Issue<{ status: Status }>, transition: Transition) => ({
  issue_id: id,
  issue_key: key,
  transition_id: transition.id,
  previous_status: fields.status.name,
  previous_status_id: fields.status.id,
  status: transition.to.name,
  status_id: transition.to.id,
});
type Moved = ReturnType<typeof foreseen>;
const isWhole = (kept: Partial<Moved> | undefined): kept is Moved =>
  [kept?.issue_id, kept?.previous_status_id, kept?.status_id].every((id) => id !== undefined);

export const transitionIssue = tool
  .compensable("transition_issue", {
    description: "Move an issue through a workflow transition. The undo runs another transition back.",
    permission: "jira:issues:transition",
    input: s.object({
      issue_id: issueName,
      transition: s.string(
        "Transition id, else its name, else the name of the status it leads to; ambiguous names are refused.",
        { minLength: 1, maxLength: 255 },
      ),
    }),
    output: s.object({
      issue_id: issueId,
      issue_key: issueKey,
      transition_id: s.string("Transition run."),
      previous_status: statusName,
      previous_status_id: statusId,
      status: statusName,
      status_id: statusId,
    }),
    compensation: {
      tool: restoreStatus,
      argument_map: {
        issue_id: "result.issue_id",
        previous_status_id: "result.previous_status_id",
        previous_status: "result.previous_status",
        expected_status_id: "result.status_id",
      },
    },
    requires: [
      { tool: createIssue, match: { issue_id: "result.issue_id" } },
      { tool: createIssue, match: { issue_id: "result.issue_key" } },
      { tool: "jira.transition_issue", match: { issue_id: "result.issue_id" } },
      { tool: "jira.transition_issue", match: { issue_id: "result.issue_key" } },
    ],
    checkpoint: {
      result: [
        "issue_id",
        "issue_key",
        "transition_id",
        "previous_status",
        "previous_status_id",
        "status",
        "status_id",
      ],
      evidence: ["started_at"],
      guard: "expected_status_id",
    },
    residue: [
      { id: "history", text: "The history shows both transitions." },
      {
        id: "post-functions",
        text: "What workflow functions changed (resolution, assignee, mails) stays.",
      },
    ],
  })
  .landed(async ({ client, checkpoint }) => {
    const { result, evidence } = checkpoint ?? {};
    if (!isWhole(result) || typeof evidence?.started_at !== "string") return "unknown";
    const moved = await wasMoved(client, result, evidence.started_at);
    if (moved === "unknown") return moved;
    return moved ? { landed: true, result } : { landed: false };
  })
  .run(async ({ client, args, checkpoint }) => {
    const issue = await readStatus(client, args.issue_id);
    const transition = chosen(await readTransitions(client, issue.id), args.transition);
    const result = foreseen(issue, transition);
    // Jira's own clock: whatever changes from now on is later.
    await checkpoint({ result, evidence: { started_at: issue.fields.updated } });
    await runTransition(client, issue.id, transition);
    return result;
  });
