import { type Static, s } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { readParent } from "./access.ts";
import { mutate, query, tool } from "./client.ts";
import { chosenId, insertOnce, lookFor } from "./ids.ts";
import { archiveIssue } from "./issues.ts";
import {
  identifier,
  issueName,
  type Node,
  notified,
  organizationId,
  priority,
  teamUuid,
  url,
  uuid,
} from "./objects.ts";

interface Made extends Node {
  readonly identifier: string;
  readonly url: string;
}
const madeFields = "id identifier url";

/** A new issue as `create_issue` shows it. */
const made = ({ id, identifier, url }: Made, organization_id: string) => ({
  issue_id: id,
  identifier,
  url,
  organization_id,
});

/** A new issue by its chosen id. */
async function readMade(client: HttpReader, id: string) {
  const operation = `Made($id: String!) { organization { id } issue(id: $id) { ${madeFields} } }`;
  const { organization, issue } = await query<{ readonly organization: Node; readonly issue: Made }>(
    client,
    operation,
    { id },
    ["organization.id", "issue.id"],
  );
  return made(issue, organization.id);
}

async function insert(client: HttpClient, input: { readonly id: string }): Promise<Made> {
  const operation = `Create($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${madeFields} } } }`;
  const { issueCreate } = await mutate<{
    readonly issueCreate: { readonly success: boolean; readonly issue: Made };
  }>(client, operation, { input }, ({ issueCreate: { success, issue } }) => success && issue.id === input.id);
  return issueCreate.issue;
}

const input = s.object(
  { team_id: teamUuid, title: s.string("Title.", { minLength: 1, maxLength: 512 }) },
  {
    description: s.string("Text, Markdown.", { maxLength: 250_000 }),
    priority,
    state_id: uuid("Workflow state."),
    assignee_id: uuid("User."),
    label_ids: s.array(uuid("Label."), "Labels.", { maxItems: 50 }),
    project_id: uuid("Project."),
    parent_id: issueName("Parent issue, UUID or identifier."),
    due_date: s.string("YYYY-MM-DD.", { pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
  },
);

/** The arguments in Linear's own names; what was left out stays out. */
const inputOf = (id: string, args: Static<typeof input>) => ({
  id,
  teamId: args.team_id,
  title: args.title,
  description: args.description,
  priority: args.priority,
  stateId: args.state_id,
  assigneeId: args.assignee_id,
  labelIds: args.label_ids,
  projectId: args.project_id,
  parentId: args.parent_id,
  dueDate: args.due_date,
});

export const createIssue = tool
  .reversible("create_issue", {
    description: "Create an issue.",
    permission: "linear:issues:write",
    input,
    output: s.object({
      issue_id: uuid("Issue UUID, chosen by the connector."),
      identifier,
      url,
      organization_id: organizationId,
    }),
    additive: true,
    compensation: {
      tool: archiveIssue,
      argument_map: {
        issue_id: "result.issue_id",
        team_id: "args.team_id",
        expected_organization_id: "result.organization_id",
      },
    },
    requires: [
      { tool: "linear.create_issue", match: { parent_id: "result.issue_id" } },
      { tool: "linear.create_issue", match: { parent_id: "result.identifier" } },
    ],
    checkpoint: { result: ["issue_id", "organization_id"], guard: "issue_id" },
    residue: [{ id: "issue-archived", text: "The issue stays, archived." }, notified],
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    const id = checkpoint?.result.issue_id ?? (idempotencyKey && chosenId("Issue", { idempotencyKey, args }));
    if (!id) return "unknown";
    const organization = checkpoint?.result.organization_id;
    const control = { kind: "Team", id: args.team_id, organization } as const;
    return lookFor(client, "Issue", control, readMade(client, id));
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    const issue_id = chosenId("Issue", { idempotencyKey, args });
    const { organization_id } = await readParent(client, "Team", args.team_id);
    await checkpoint({ result: { issue_id, organization_id } });
    const inserting = insert(client, inputOf(issue_id, args)).then((issue) => made(issue, organization_id));
    return insertOnce("Issue", issue_id, inserting, () => readMade(client, issue_id));
  });
