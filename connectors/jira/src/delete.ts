import { ConflictError, s } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { accountOf, type IssueName, issuePath, readIssue, readStatus, unlessGone } from "./access.ts";
import { isEmpty, tool } from "./client.ts";
import { already, type Change, type Issue, issueName, projectOf, type User } from "./objects.ts";

interface Authored {
  readonly author?: User;
  readonly updateAuthor?: User;
}
interface Contents {
  readonly comment: { readonly comments: readonly Authored[]; readonly total: number };
  /** Left out where a project has no time tracking. */
  readonly worklog?: { readonly worklogs: readonly Authored[]; readonly total: number };
  /** Left out where a site takes no files. */
  readonly attachment?: readonly Authored[];
}
interface Whole extends Issue<Contents> {
  readonly changelog: { readonly histories: readonly Change[]; readonly total: number };
}

/** An issue with all that people can have put into it. */
const readWhole = (client: HttpReader, issue: string): Promise<Whole> =>
  readIssue<Whole>(
    ...([client, issue, ["comment", "worklog", "attachment"]] as const),
    ({ fields: { comment, worklog, attachment = [] }, changelog }) =>
      [comment?.comments, worklog?.worklogs ?? [], attachment, changelog?.histories].every(Array.isArray),
    { expand: "changelog" },
  );

type Part = readonly [
  what: string,
  shown: readonly Authored[],
  total: number,
  counts: (user?: User) => boolean,
];

/** What somebody else did to an issue, in words; "" when nobody did. What Jira does not show may be anybody's. */
function leftByOthers({ fields, changelog }: Whole, own: string): string {
  const { comment, worklog, attachment = [] } = fields;
  const isOther = (user?: User) => user?.accountId !== own;
  // Rules change what they like in a new issue: what people changed is what counts.
  const isPerson = (user?: User) => isOther(user) && user?.accountType !== "app";
  const parts: readonly Part[] = [
    ["comments", comment.comments, comment.total, isOther],
    ["worklogs", worklog?.worklogs ?? [], worklog?.total ?? 0, isOther],
    ["attachments", attachment, attachment.length, isOther],
    ["changes", changelog.histories, changelog.total, isPerson],
  ];
  return parts
    .map(([what, shown, total, counts]) => {
      const theirs = shown.filter(
        ({ author, updateAuthor = author }) => counts(author) || counts(updateAuthor),
      );
      return [what, theirs.length + Math.max(0, total - shown.length)] as const;
    })
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${what}: ${count}`)
    .join(", ");
}

/** @throws ConflictError when anybody else worked on the issue */
async function checkUntouched(client: HttpReader, issue: Whole): Promise<void> {
  const found = leftByOthers(issue, await accountOf(client));
  if (found === "") return;
  throw new ConflictError(`issue ${issue.key}: others worked on it (${found}). Nothing was deleted.`, {
    expected: "nothing by others",
    found,
  });
}

/** Deletes an issue; false when it is gone already. Jira refuses while it has sub-tasks. */
async function erase(client: HttpClient, name: IssueName, id: string): Promise<boolean> {
  const erasing = client.write({
    method: "DELETE",
    path: issuePath(id),
    query: { deleteSubtasks: false },
    expect: isEmpty,
  });
  return (await unlessGone(client, name, erasing)) !== undefined;
}

export const deleteIssue = tool
  .idempotent("delete_issue", {
    description:
      "Delete an issue for good. Refused while it has sub-tasks. An issue that is gone already is success.",
    permission: "jira:issues:delete",
    input: s.object(
      { issue_id: issueName },
      { project: projectOf("Its project, read to prove access when the issue is not found.") },
    ),
    output: s.object({ issue_id: issueName, already }),
    target: ["issue_id"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(
    async ({ client, args }) =>
      (await unlessGone(client, args, readStatus(client, args.issue_id))) === undefined,
  )
  .run(async ({ client, args, onConflict }) => {
    const { issue_id } = args;
    const issue = await unlessGone(client, args, readWhole(client, issue_id));
    if (!issue) return { issue_id, already: true };
    if (onConflict !== "overwrite") await checkUntouched(client, issue);
    return { issue_id, already: !(await erase(client, args, issue.id)) };
  });
