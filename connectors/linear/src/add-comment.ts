import { s, sha256Hex } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { readParent } from "./access.ts";
import { mutate, tool } from "./client.ts";
import { type Comment, deleteComment, readComment, sha256 } from "./comments.ts";
import { createIssue } from "./create-issue.ts";
import { chosenId, insertOnce, lookFor } from "./ids.ts";
import { anyIssue, issueUuid, notified, organizationId, url, uuid } from "./objects.ts";

/** A new comment as `add_comment` shows it. */
const shown = (
  { id, body, url }: Pick<Comment, "id" | "body" | "url">,
  issue_id: string,
  organization_id: string,
) => ({ comment_id: id, issue_id, organization_id, sha256: sha256Hex(body), url });

/** A new comment by its chosen id. */
async function readMade(client: HttpReader, id: string, sent: string) {
  const { organization, comment } = await readComment(client, id);
  const made = shown(comment, comment.issue?.id ?? "", organization.id);
  // What somebody has edited is not what was made: the undo must not take it for that.
  return comment.editedAt === null ? made : { ...made, sha256: sha256Hex(sent) };
}

interface Input {
  readonly id: string;
  readonly issueId: string;
  readonly body: string;
  readonly parentId: string | undefined;
}
async function insert(client: HttpClient, input: Input) {
  const operation =
    "Create($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id body url } } }";
  const { commentCreate } = await mutate<{
    readonly commentCreate: { readonly success: boolean; readonly comment: Comment };
  }>(
    client,
    operation,
    { input },
    ({ commentCreate: { success, comment } }) =>
      success && comment.id === input.id && typeof comment.body === "string",
  );
  return commentCreate.comment;
}

export const addComment = tool
  .reversible("add_comment", {
    description: "Comment on an issue.",
    permission: "linear:comments:write",
    input: s.object(
      { issue_id: anyIssue, body: s.string("Text, Markdown.", { minLength: 1, maxLength: 250_000 }) },
      { parent_id: uuid("Comment to reply to.") },
    ),
    output: s.object({
      comment_id: uuid("Comment UUID, chosen by the connector."),
      issue_id: issueUuid,
      organization_id: organizationId,
      sha256: s.string("SHA-256 of the text as the service returned it.", sha256),
      url,
    }),
    additive: true,
    compensation: {
      tool: deleteComment,
      argument_map: {
        comment_id: "result.comment_id",
        issue_id: "result.issue_id",
        expected_organization_id: "result.organization_id",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      { tool: createIssue, match: { issue_id: "result.issue_id" } },
      { tool: createIssue, match: { issue_id: "result.identifier" } },
      { tool: "linear.add_comment", match: { parent_id: "result.comment_id" } },
    ],
    checkpoint: { result: ["comment_id", "issue_id", "organization_id"], guard: "comment_id" },
    residue: [notified],
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    const { comment_id, issue_id, organization_id } = checkpoint?.result ?? {};
    const id = comment_id ?? (idempotencyKey && chosenId("Comment", { idempotencyKey, args }));
    if (!id) return "unknown";
    const control = { kind: "Issue", id: issue_id ?? args.issue_id, organization: organization_id } as const;
    return lookFor(client, "Comment", control, readMade(client, id, args.body));
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    const comment_id = chosenId("Comment", { idempotencyKey, args });
    const { id: issue_id, organization_id } = await readParent(client, "Issue", args.issue_id);
    await checkpoint({ result: { comment_id, issue_id, organization_id } });
    const input = { id: comment_id, issueId: issue_id, body: args.body, parentId: args.parent_id };
    const inserting = insert(client, input).then((comment) => shown(comment, issue_id, organization_id));
    return insertOnce("Comment", comment_id, inserting, () => readMade(client, comment_id, args.body));
  });
