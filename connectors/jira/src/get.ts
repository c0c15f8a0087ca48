import { s } from "@reversi-connector/core";
import { readIssue } from "./access.ts";
import { type Document, textOf } from "./adf.ts";
import { tool } from "./client.ts";
import {
  type Issue,
  issueId,
  issueKey,
  issueName,
  type Status,
  statusId,
  statusName,
  timeOf,
  type User,
  url,
  urlOf,
} from "./objects.ts";

interface Fields {
  readonly summary: string;
  readonly status: Status;
  readonly description?: Document | null;
  readonly issuetype: { readonly name: string };
  readonly project: { readonly key: string };
  readonly assignee?: User | null;
  readonly parent?: { readonly key: string };
  readonly subtasks?: readonly { readonly key: string }[];
  readonly created: string;
  readonly updated: string;
}
const required = ["summary", "status", "issuetype", "project", "created", "updated"] as const;
const optional = ["description", "assignee", "parent", "subtasks"] as const;

const shown = ({ description, assignee, parent, subtasks = [], ...fields }: Fields) => ({
  project: fields.project.key,
  issue_type: fields.issuetype.name,
  summary: fields.summary,
  description: description ? textOf(description) : null,
  status: fields.status.name,
  status_id: fields.status.id,
  assignee: assignee?.displayName ?? null,
  parent_key: parent?.key ?? null,
  subtasks: subtasks.map(({ key }) => key),
  created_at: timeOf(fields.created),
  updated_at: timeOf(fields.updated),
});

export const getIssue = tool
  .readOnly("get_issue", {
    description: "Read one issue.",
    permission: "jira:issues:read",
    input: s.object({ issue_id: issueName }),
    output: s.object({
      issue_id: issueId,
      issue_key: issueKey,
      project: s.string("Project key."),
      issue_type: s.string("Issue type."),
      summary: s.string("Summary."),
      description: s.nullable(s.string("Text, without its formatting.")),
      status: statusName,
      status_id: statusId,
      assignee: s.nullable(s.string("Display name.")),
      parent_key: s.nullable(issueKey),
      subtasks: s.array(issueKey, "Keys of the sub-tasks."),
      url,
      created_at: s.string("Created (RFC 3339)."),
      updated_at: s.string("Last changed (RFC 3339)."),
    }),
  })
  .run(async ({ client, args }) => {
    const fields = [...required, ...optional];
    const issue = await readIssue<Issue<Fields>>(client, args.issue_id, fields, (found) =>
      required.every((name) => (found.fields[name] ?? null) !== null),
    );
    return { issue_id: issue.id, issue_key: issue.key, ...shown(issue.fields), url: urlOf(issue) };
  });
