import { s } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { already, type Issue, type IssueName, issue, issueIid, url } from "./objects.ts";
import { around, hidden, inPath, isNotFound, project, projectId, readProject } from "./project.ts";
import { refuseQuickActions } from "./quick-actions.ts";

const issuePath = (name: IssueName) => path`/projects/${inPath(name)}/issues/${name.issue_iid}`;

/** @throws ConnectorError with GitLab's status */
export async function readIssue(client: HttpReader, name: IssueName): Promise<Issue> {
  const expect = ["iid", "project_id", "state", "web_url"];
  return (await client.read<Issue>({ path: issuePath(name), expect })).body;
}

/**
 * Whether an issue is closed. One that is gone counts as closed, but only while its project shows its issues.
 * @throws ConnectorError when nobody can tell
 */
async function look(client: HttpReader, name: IssueName) {
  try {
    const { project_id, state } = await readIssue(client, name);
    return { project_id, closed: state === "closed" };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const what = `project ${name.project}`;
    const { id, issues_enabled } = await around(error, what, readProject(client, name));
    if (issues_enabled === false) throw hidden(error, `the issues of ${what} cannot be read`);
    return { project_id: id, closed: true };
  }
}

const labels = s.array(s.string("Label name."), "Labels.");

/** An issue as `get_issue` shows it. */
const seen = (found: Issue) => ({
  project_id: found.project_id,
  issue_iid: found.iid,
  title: found.title,
  description: found.description ?? null,
  state: found.state,
  labels: [...(found.labels ?? [])],
  assignees: (found.assignees ?? []).map(({ username }) => username),
  author: found.author?.username ?? null,
  confidential: found.confidential ?? false,
  moved_to_id: found.moved_to_id ?? null,
  url: found.web_url,
  created_at: found.created_at,
  updated_at: found.updated_at,
  closed_at: found.closed_at ?? null,
});

export const getIssue = tool
  .readOnly("get_issue", {
    description: "Read one issue.",
    permission: "gitlab:issues:read",
    input: s.object(issue),
    output: s.object({
      project_id: projectId,
      issue_iid: issueIid,
      title: s.string("Title."),
      description: s.nullable(s.string("Text, Markdown.")),
      state: s.oneOf(["opened", "closed"], "State."),
      labels,
      assignees: s.array(s.string("User name."), "Assigned users."),
      author: s.nullable(s.string("User name.")),
      confidential: s.boolean("Whether it is confidential."),
      moved_to_id: s.nullable(s.integer("Id of the issue it moved to.")),
      url,
      created_at: s.string("Created (RFC 3339)."),
      updated_at: s.string("Last changed (RFC 3339)."),
      closed_at: s.nullable(s.string("Closed (RFC 3339).")),
    }),
  })
  .run(async ({ client, args }) => seen(await readIssue(client, args)));

export const closeIssue = tool
  .idempotent("close_issue", {
    description: "Close an issue. Closing a closed issue changes nothing.",
    permission: "gitlab:issues:write",
    input: s.object(issue),
    output: s.object({
      project_id: projectId,
      issue_iid: issueIid,
      state: s.oneOf(["closed"], "State."),
      already,
    }),
    target: ["project", "issue_iid"],
  })
  .holds(async ({ client, args }) => (await look(client, args)).closed)
  .run(async ({ client, args }) => {
    const { project_id, closed } = await look(client, args);
    const result = { project_id, issue_iid: args.issue_iid, state: "closed" } as const;
    if (closed) return { ...result, already: true };
    const json = { state_event: "close" };
    const expect = ({ state }: Issue) => state === "closed";
    try {
      await client.write({ method: "PUT", path: issuePath(args), json, expect });
      return { ...result, already: false };
    } catch (error) {
      if (isNotFound(error) && (await look(client, args)).closed) return { ...result, already: true };
      throw error;
    }
  });

export const createIssue = tool
  .reversible("create_issue", {
    description: "Open an issue. Lines that GitLab would run as quick actions are refused.",
    permission: "gitlab:issues:write",
    input: s.object(
      { project, title: s.string("Title.", { minLength: 1, maxLength: 255 }) },
      {
        description: s.string("Text, Markdown, without quick actions.", { maxLength: 1_048_576 }),
        labels: s.array(
          s.string("Label name, without comma.", { minLength: 1, maxLength: 255, pattern: "^[^,]+$" }),
          "Labels to set.",
          { maxItems: 100 },
        ),
        confidential: s.boolean("Whether only members see it.", { default: false }),
      },
    ),
    output: s.object({
      project_id: projectId,
      issue_iid: issueIid,
      state: s.string("State."),
      labels: s.array(s.string("Label name."), "Labels really set."),
      url,
    }),
    additive: true,
    compensation: {
      tool: closeIssue,
      argument_map: { project: "result.project_id", issue_iid: "result.issue_iid" },
    },
    residue: [
      { id: "issue-closed", text: "The issue stays visible, closed." },
      { id: "notified", text: "Mails and webhooks went out." },
      { id: "label-created", text: "Labels that the project lacked stay in it." },
    ],
  })
  .run(async ({ client, args: { project, labels, ...wanted } }) => {
    refuseQuickActions("description", wanted.description ?? "");
    const { body: made } = await client.write<Issue>({
      method: "POST",
      path: path`/projects/${inPath({ project })}/issues`,
      json: { ...wanted, labels: labels?.join(",") },
      expect: ["iid", "project_id", "state", "web_url"],
    });
    return {
      project_id: made.project_id,
      issue_iid: made.iid,
      state: made.state,
      labels: [...(made.labels ?? [])],
      url: made.web_url,
    };
  });
