import type { Checkpoint } from "@reversi-connector/core";
import { type Bench, failure } from "./bench.ts";

export const key = "run 1, step 1";
/** A writing tool, and what it is called with. */
export type Write = readonly [tool: string, argsOf: (on: Bench) => object];

export const forward: readonly Write[] = [
  ["create_issue", () => ({ project: "PROJ", issue_type: "Task", summary: "New", description: "a\n\nb" })],
  ["create_issue", () => ({ project: "10000", issue_type: "Sub-task", summary: "New", parent_id: "PROJ-1" })],
  ["add_comment", () => ({ issue_id: "PROJ-1", body: "Done" })],
  ["add_comment", () => ({ issue_id: "HELP-1", body: "Done", internal: true })],
  ["transition_issue", () => ({ issue_id: "PROJ-1", transition: "Start" })],
  ["transition_issue", () => ({ issue_id: "PROJ-1", transition: "Done" })],
];
export const undoes: readonly Write[] = [
  ["delete_issue", (on) => ({ issue_id: on.issue().id, project: "PROJ" })],
  ["delete_comment", (on) => ({ issue_id: "PROJ-1", comment_id: on.comment().id })],
  ["restore_status", () => ({ issue_id: "PROJ-2", previous_status_id: "10000", expected_status_id: "3" })],
];
export const all = [...forward, ...undoes];
export const writing = (tool: string) => ({ method: tool.startsWith("delete") ? "DELETE" : "POST" });

/** Calls a tool that must fail, and keeps what it made durable. */
export async function lose({ call }: Bench, tool: string, args: object) {
  const kept: Checkpoint[] = [];
  const checkpoint = async (next: Checkpoint) => void kept.push(next);
  const error = await failure(call(tool, args, { idempotencyKey: key, checkpoint }));
  return { error, checkpoint: kept[0] };
}
