import { ConnectorError, s } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import {
  already,
  type Issue,
  type IssueName,
  issue,
  issueNumber,
  loginsOf,
  namesOf,
  url,
} from "./objects.ts";
import { repository, unlessDeleted, unlessGone } from "./repository.ts";

const issuePath = ({ owner, repo, issue_number }: IssueName) =>
  path`/repos/${owner}/${repo}/issues/${issue_number}`;

/** @throws ConnectorError also for an issue that was transferred: elsewhere it has another number */
async function readIssue(client: HttpReader, name: IssueName): Promise<Issue> {
  const { body: found } = await client.read<Issue>({ path: issuePath(name), expect: ["number", "state"] });
  if (found.number === name.issue_number) return found;
  throw new ConnectorError(
    `issue ${name.issue_number} of ${name.owner}/${name.repo} was transferred: use it as ${found.html_url}`,
  );
}

const labels = s.array(s.string("Label name."), "Labels.");
const assignees = s.array(s.string("Login."), "Assigned logins.");

/** An issue as `get_issue` shows it. */
const seen = (found: Issue) => ({
  issue_number: found.number,
  title: found.title,
  body: found.body ?? null,
  state: found.state,
  state_reason: found.state_reason ?? null,
  labels: namesOf(found.labels),
  assignees: loginsOf(found.assignees),
  author: found.user?.login ?? null,
  comments: found.comments,
  locked: found.locked,
  is_pull_request: found.pull_request !== undefined,
  url: found.html_url,
  created_at: found.created_at,
  updated_at: found.updated_at,
  closed_at: found.closed_at,
});

export const getIssue = tool
  .readOnly("get_issue", {
    description: "Read one issue.",
    permission: "github:issues:read",
    input: s.object(issue),
    output: s.object({
      issue_number: issueNumber,
      title: s.string("Title."),
      body: s.nullable(s.string("Text, Markdown.")),
      state: s.oneOf(["open", "closed"], "State."),
      state_reason: s.nullable(s.string("Why it is in this state.")),
      labels,
      assignees,
      author: s.nullable(s.string("Login.")),
      comments: s.integer("Number of comments."),
      locked: s.boolean("Whether the conversation is locked."),
      is_pull_request: s.boolean("Whether it is a pull request."),
      url,
      created_at: s.string("Created (RFC 3339)."),
      updated_at: s.string("Last changed (RFC 3339)."),
      closed_at: s.nullable(s.string("Closed (RFC 3339).")),
    }),
  })
  .run(async ({ client, args }) => seen(await readIssue(client, args)));

export const closeIssue = tool
  .idempotent("close_issue", {
    description: "Close an issue. Closing a closed issue changes nothing; a pull request is refused.",
    permission: "github:issues:write",
    input: s.object(issue, {
      state_reason: s.oneOf(["completed", "not_planned"], "Why.", { default: "not_planned" }),
    }),
    output: s.object({ issue_number: issueNumber, state: s.oneOf(["closed"], "State."), already }),
    target: ["owner", "repo", "issue_number"],
  })
  .holds(async ({ client, args }) => {
    const found = await unlessGone(client, args, readIssue(client, args));
    return found === undefined || found.state === "closed";
  })
  .run(async ({ client, args }) => {
    const { issue_number, state_reason } = args;
    const found = await unlessGone(client, args, readIssue(client, args));
    if (found?.pull_request) {
      throw new ConnectorError(`${found.html_url} is a pull request, not an issue; nothing was sent`);
    }
    if (!found || found.state === "closed") return { issue_number, state: "closed", already: true };
    const closed = client.write<Issue>({
      method: "PATCH",
      path: issuePath(args),
      json: { state: "closed", state_reason },
      expect: ({ state }: Issue) => state === "closed",
    });
    return { issue_number, state: "closed", already: (await unlessDeleted(closed)) === undefined };
  });

export const createIssue = tool
  .reversible("create_issue", {
    description: "Open an issue. GitHub cannot delete issues, so undoing this closes it.",
    permission: "github:issues:write",
    input: s.object(
      { ...repository, title: s.string("Title.", { minLength: 1, maxLength: 256 }) },
      {
        body: s.string("Text, Markdown.", { maxLength: 65_536 }),
        labels: s.array(s.string("Label name.", { minLength: 1, maxLength: 50 }), "Labels to set.", {
          maxItems: 100,
        }),
        assignees: s.array(s.string("Login.", { minLength: 1, maxLength: 100 }), "Logins to assign.", {
          maxItems: 10,
        }),
      },
    ),
    output: s.object({
      issue_number: issueNumber,
      state: s.string("State."),
      labels: s.array(
        s.string("Label name."),
        "Labels really set (GitHub drops them silently without push access).",
      ),
      assignees: s.array(s.string("Login."), "Logins really assigned."),
      url,
    }),
    additive: true,
    compensation: {
      tool: closeIssue,
      argument_map: { owner: "args.owner", repo: "args.repo", issue_number: "result.issue_number" },
    },
    residue: [
      { id: "issue-closed", text: "The issue stays visible, closed." },
      { id: "notified", text: "Notifications and webhooks went out." },
      { id: "label-created", text: "Labels that the repository lacked stay in it." },
    ],
  })
  .run(async ({ client, args: { owner, repo, ...wanted } }) => {
    const { body: made } = await client.write<Issue>({
      method: "POST",
      path: path`/repos/${owner}/${repo}/issues`,
      json: wanted,
      expect: ["number", "state", "html_url"],
    });
    return {
      issue_number: made.number,
      state: made.state,
      labels: namesOf(made.labels),
      assignees: loginsOf(made.assignees),
      url: made.html_url,
    };
  });
