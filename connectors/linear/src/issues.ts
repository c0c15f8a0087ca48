import { s } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { unlessGone } from "./access.ts";
import { mutate, query, tool } from "./client.ts";
import { saysNotFound } from "./failures.ts";
import {
  already,
  anyIssue,
  expectedOrganizationId,
  identifier,
  issueUuid,
  type Node,
  priority,
  teamUuid,
  url,
  uuid,
} from "./objects.ts";

interface Issue extends Node {
  readonly identifier: string;
  readonly title: string;
  readonly description: string | null;
  readonly priority: number;
  readonly url: string;
  readonly archivedAt: string | null;
  readonly trashed: boolean | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly state: { readonly name: string; readonly type: string };
  readonly team: { readonly id: string; readonly key: string };
  readonly assignee: { readonly name: string } | null;
}
const issueFields = `id identifier title description priority url archivedAt trashed createdAt updatedAt
  state { name type } team { id key } assignee { name }`;

/** An issue as `get_issue` shows it. */
const seen = (issue: Issue) => ({
  issue_id: issue.id,
  identifier: issue.identifier,
  title: issue.title,
  description: issue.description,
  state: issue.state.name,
  state_type: issue.state.type,
  team_id: issue.team.id,
  team_key: issue.team.key,
  assignee: issue.assignee?.name ?? null,
  priority: issue.priority,
  archived_at: issue.archivedAt,
  trashed: issue.trashed ?? false,
  url: issue.url,
  created_at: issue.createdAt,
  updated_at: issue.updatedAt,
});

export const getIssue = tool
  .readOnly("get_issue", {
    description: "Read one issue.",
    permission: "linear:issues:read",
    input: s.object({ issue_id: anyIssue }),
    output: s.object({
      issue_id: issueUuid,
      identifier,
      title: s.string("Title."),
      description: s.nullable(s.string("Text, Markdown.")),
      state: s.string("State name."),
      state_type: s.string("State type."),
      team_id: teamUuid,
      team_key: s.string("Team key."),
      assignee: s.nullable(s.string("Name.")),
      priority,
      archived_at: s.nullable(s.string("Archived (RFC 3339).")),
      trashed: s.boolean("In the trash."),
      url,
      created_at: s.string("Created (RFC 3339)."),
      updated_at: s.string("Last changed (RFC 3339)."),
    }),
  })
  .run(async ({ client, args }) => {
    const operation = `Issue($id: String!) { issue(id: $id) { ${issueFields} } }`;
    const { issue } = await query<{ readonly issue: Issue }>(client, operation, { id: args.issue_id }, [
      "issue.id",
      "issue.state.name",
      "issue.team.id",
    ]);
    return seen(issue);
  });

type Archivable = Pick<Issue, "id" | "archivedAt" | "trashed">;
/** The trash is where archived issues go that are to be deleted later. */
const isArchived = ({ archivedAt, trashed }: Archivable) =>
  typeof archivedAt === "string" || trashed === true;

interface ArchiveArguments {
  readonly issue_id: string;
  readonly team_id?: string;
  readonly expected_organization_id?: string;
}

/** The issue; undefined when it is gone for good. */
async function readArchivable(client: HttpReader, args: ArchiveArguments): Promise<Archivable | undefined> {
  const operation = "Issue($id: String!) { issue(id: $id) { id archivedAt trashed } }";
  const control = {
    kind: "Team",
    id: args.team_id,
    organization: args.expected_organization_id,
  } as const;
  const reading = query<{ readonly issue: Archivable }>(client, operation, { id: args.issue_id }, [
    "issue.id",
  ]);
  return (await unlessGone(client, "Issue", control, reading))?.issue;
}

/** What was archived; null when Linear shows nothing of it any more. */
async function archive(client: HttpClient, { issue_id }: ArchiveArguments): Promise<Archivable | null> {
  const operation =
    "Archive($id: String!) { issueArchive(id: $id) { success entity { id archivedAt trashed } } }";
  const { issueArchive } = await mutate<{
    readonly issueArchive: { readonly success: boolean; readonly entity: Archivable | null };
  }>(
    client,
    operation,
    { id: issue_id },
    ({ issueArchive: { success, entity } }) => success && (entity === null || isArchived(entity)),
  );
  return issueArchive.entity;
}

export const archiveIssue = tool
  .idempotent("archive_issue", {
    description: "Archive an issue. An archived issue is success.",
    permission: "linear:issues:write",
    input: s.object(
      { issue_id: issueUuid },
      {
        team_id: uuid("Team, read to prove access when the issue is not found."),
        expected_organization_id: expectedOrganizationId,
      },
    ),
    output: s.object({
      issue_id: issueUuid,
      archived_at: s.nullable(s.string("Archived; null when the issue is gone (RFC 3339).")),
      already,
    }),
    target: ["issue_id"],
  })
  .holds(async ({ client, args }) => {
    const found = await readArchivable(client, args);
    return found === undefined || isArchived(found);
  })
  .run(async ({ client, args }) => {
    const { issue_id } = args;
    const there = (found: Archivable | null | undefined) => ({
      issue_id,
      archived_at: found?.archivedAt ?? null,
    });
    const found = await readArchivable(client, args);
    if (found === undefined || isArchived(found)) return { ...there(found), already: true };
    try {
      return { ...there(await archive(client, args)), already: false };
    } catch (error) {
      if (!saysNotFound(error, "Issue")) throw error;
      const now = await readArchivable(client, args);
      if (now && !isArchived(now)) throw error;
      return { ...there(now), already: true };
    }
  });
