import { s } from "@reversi-connector/core";
import { type ProjectName, project } from "./project.ts";
import type { QuickActions } from "./quick-actions.ts";

/** GitLab's objects, as far as the tools read them. */
export interface Issue {
  /** The number in the project, as in every path; `id`, which no tool uses, is another one. */
  readonly iid: number;
  readonly project_id: number;
  readonly title: string;
  readonly description?: string | null;
  readonly state: "opened" | "closed";
  readonly labels?: readonly string[];
  readonly assignees?: readonly User[];
  readonly author?: User | null;
  readonly confidential?: boolean;
  readonly moved_to_id?: number | null;
  readonly web_url: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly closed_at?: string | null;
}
export interface User {
  readonly username: string;
}
export interface Note extends QuickActions {
  readonly id: number;
  readonly project_id: number;
  readonly body: string;
  readonly updated_at: string;
}
export interface Branch {
  readonly commit: Commit;
  readonly web_url: string;
}
export interface Tag {
  readonly commit: Commit;
}
interface Commit {
  readonly id: string;
  readonly authored_date?: string | null;
}

/** Schemas of values that several tools share. */
export const issueIid = s.integer("Number of the issue in the project.", { minimum: 1 });
export const url = s.string("Address of it for people; carries no credential.");
export const already = s.boolean("True when nothing had to be done.");

/** The arguments that name an issue. */
export const issue = { project, issue_iid: issueIid };
export interface IssueName extends ProjectName {
  readonly issue_iid: number;
}
