import { s } from "@reversi-connector/core";
import { repository } from "./repository.ts";

/** GitHub's objects, as far as the tools read them. */
export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body?: string | null;
  readonly state: "open" | "closed";
  readonly state_reason?: string | null;
  readonly labels?: readonly (Label | string)[];
  readonly assignees?: readonly User[] | null;
  readonly user: User | null;
  readonly comments: number;
  readonly locked: boolean;
  /** Only there when it is a pull request. */
  readonly pull_request?: object;
  readonly html_url: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly closed_at: string | null;
}
export interface User {
  readonly login: string;
}
export interface Label {
  readonly name: string;
}
export interface Comment {
  readonly id: number;
  readonly body: string;
  readonly html_url: string;
}
export interface GitObject {
  readonly type: string;
  readonly sha: string;
}
/** A reference, or an annotated tag: both point at an object. */
export interface Pointer {
  readonly object: GitObject;
}

export const namesOf = (labels: readonly (Label | string)[] = []): string[] =>
  labels.map((label) => (typeof label === "string" ? label : label.name));
export const loginsOf = (users: readonly User[] | null | undefined): string[] =>
  (users ?? []).map(({ login }) => login);

/** Schemas of values that several tools share. */
export const issueNumber = s.integer("Number of the issue in the repository.", { minimum: 1 });
export const url = s.string("Address of it for people; carries no credential.");
export const already = s.boolean("True when nothing had to be done.");

/** The arguments that name an issue. */
export const issue = { ...repository, issue_number: issueNumber };
export interface IssueName {
  readonly owner: string;
  readonly repo: string;
  readonly issue_number: number;
}
