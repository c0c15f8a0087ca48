import { ConnectorError, s } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { lackedIn } from "./access.ts";
import { documentOf } from "./adf.ts";
import { tool } from "./client.ts";
import { deleteIssue } from "./delete.ts";
import { findMade } from "./find.ts";
import {
  isDigits,
  issueId,
  issueKey,
  markOf,
  type Named,
  parentName,
  projectOf,
  url,
  urlOf,
} from "./objects.ts";

interface Wanted {
  readonly project: string;
  readonly issue_type: string;
  readonly summary: string;
  readonly description?: string;
  readonly parent_id?: string;
  readonly labels?: readonly string[];
}

const fieldsOf = ({ project, issue_type, summary, description, parent_id, labels }: Wanted) => ({
  project: isDigits(project) ? { id: project } : { key: project },
  issuetype: isDigits(issue_type) ? { id: issue_type } : { name: issue_type },
  summary,
  ...(description && { description: documentOf(description) }),
  ...(parent_id !== undefined && { parent: isDigits(parent_id) ? { id: parent_id } : { key: parent_id } }),
  ...(labels && { labels }),
});

/** @throws ConnectorError when the account could not delete again what it is about to create */
async function checkUndoable(client: HttpReader, project: string): Promise<void> {
  const lacked = await lackedIn(client, project, ["BROWSE_PROJECTS", "DELETE_ISSUES"]);
  if (lacked.length === 0) return;
  throw new ConnectorError(
    `the account lacks ${lacked.join(" and ")} in project ${project}: the new issue could not be deleted again. Nothing was created.`,
  );
}

const resultOf = (made: Named) => ({ issue_id: made.id, issue_key: made.key, url: urlOf(made) });

export const createIssue = tool
  .reversible("create_issue", {
    description:
      "Create an issue. Undoing it deletes it, which needs the Delete Issues permission (checked first).",
    permission: "jira:issues:write",
    input: s.object(
      {
        project: projectOf("Project key or id."),
        issue_type: s.string("Issue type, name or id.", { minLength: 1, maxLength: 255 }),
        summary: s.string("Summary, one line.", { minLength: 1, maxLength: 255, pattern: "^[^\\r\\n]+$" }),
      },
      {
        description: s.string("Text; each line becomes a paragraph.", { maxLength: 32_767 }),
        parent_id: parentName,
        labels: s.array(s.string("Label, without blank.", { pattern: "^\\S{1,255}$" }), "Labels to set.", {
          maxItems: 100,
        }),
      },
    ),
    output: s.object({ issue_id: issueId, issue_key: issueKey, url }),
    additive: true,
    compensation: {
      tool: deleteIssue,
      argument_map: { issue_id: "result.issue_id", project: "args.project" },
    },
    requires: [
      { tool: "jira.create_issue", match: { parent_id: "result.issue_id" } },
      { tool: "jira.create_issue", match: { parent_id: "result.issue_key" } },
    ],
    residue: [
      { id: "number-used", text: "The issue number is not used again." },
      { id: "notified", text: "Mails, webhooks and automation rules ran." },
    ],
  })
  .landed(async ({ client, args, since, idempotencyKey }) => {
    if (idempotencyKey === undefined) return "unknown";
    const made = await findMade(client, args.project, idempotencyKey, since);
    if (made === "unknown") return made;
    return made ? { landed: true, result: resultOf(made) } : { landed: false };
  })
  .run(async ({ client, args, idempotencyKey }) => {
    await checkUndoable(client, args.project);
    const { body } = await client.write<Named>({
      method: "POST",
      path: "/issue",
      json: { fields: fieldsOf(args), properties: [markOf(idempotencyKey)] },
      expect: ["id", "key", "self"],
    });
    return resultOf(body);
  });
