import {
  ConflictError,
  ConnectorError,
  type OnConflict,
  s,
  sha256Hex,
  threeWayRestore,
} from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { unlessGone } from "./access.ts";
import { mutate, query, tool } from "./client.ts";
import { saysNotFound } from "./failures.ts";
import { already, expectedOrganizationId, type Node, uuid } from "./objects.ts";

export interface Comment extends Node {
  readonly body: string;
  readonly url: string;
  readonly editedAt: string | null;
  readonly parentId: string | null;
  /** Null below anything that is no issue. */
  readonly issue: Node | null;
}

/** A comment, and the workspace that the key belongs to. */
export const readComment = (client: HttpReader, id: string) =>
  query<{ readonly organization: Node; readonly comment: Comment }>(
    client,
    `Comment($id: String!) { organization { id }
      comment(id: $id) { id body url editedAt parentId issue { id } } }`,
    { id },
    ["organization.id", "comment.id", "comment.body"],
  );

interface DeleteArguments {
  readonly comment_id: string;
  readonly issue_id?: string;
  readonly expected_organization_id?: string;
  readonly expected_sha256?: string | null;
}

/** The comment; undefined when it is gone. */
async function readUnlessGone(client: HttpReader, args: DeleteArguments): Promise<Comment | undefined> {
  const { comment_id, issue_id: id, expected_organization_id: organization } = args;
  const control = { kind: "Issue", id, organization } as const;
  return (await unlessGone(client, "Comment", control, readComment(client, comment_id)))?.comment;
}

interface Page {
  readonly comments: {
    readonly nodes: readonly { readonly parentId: string | null }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}
const maxPages = 100;

/** Whether anybody answered the comment. */
async function hasReplies(client: HttpReader, { id, parentId }: Comment, issue: string): Promise<boolean> {
  if (typeof parentId === "string") return false; // threads are one level deep
  const operation = `Replies($filter: CommentFilter!, $after: String) {
    comments(filter: $filter, first: 250, after: $after) { nodes { id parentId } pageInfo { hasNextPage endCursor } } }`;
  const filter = { issue: { id: { eq: issue } } };
  let after: string | null = null;
  for (let pages = 0; pages < maxPages; pages++) {
    const { comments }: Page = await query<Page>(client, operation, { filter, after }, [
      "comments.nodes",
      "comments.pageInfo",
    ]);
    if (comments.nodes.some((node) => node.parentId === id)) return true;
    if (!comments.pageInfo.hasNextPage) return false;
    after = comments.pageInfo.endCursor;
  }
  throw new ConnectorError(`the comments of issue ${issue} do not end after ${maxPages} pages`);
}

/**
 * Looks whether the comment is as the undone step left it. Without the hash of that, an edit shows in `editedAt`.
 * @throws ConflictError when somebody edited it, or answered it: the answers would go with it
 */
async function checkUnchanged(
  client: HttpReader,
  found: Comment,
  { expected_sha256 }: DeleteArguments,
  onConflict: OnConflict | undefined,
): Promise<void> {
  const { id, body, editedAt, issue } = found;
  if (!issue) throw new ConnectorError(`comment ${id} is on something else than an issue; nothing was sent`);
  const now = sha256Hex(body);
  const states = { before: undefined, after: expected_sha256 ?? (editedAt === null ? now : undefined), now };
  const same = (a: string | undefined, b: string | undefined) => a === b;
  const describe = (state: string | undefined) => state ?? "nothing";
  threeWayRestore(states, { what: `text of comment ${id} (SHA-256)`, same, describe, onConflict });
  if (onConflict === "overwrite" || !(await hasReplies(client, found, issue.id))) return;
  const [expected, answered] = ["no replies", "replies"];
  throw new ConflictError(
    `comment ${id}: changed since; expected ${expected}, found ${answered}. Nothing was deleted: they would go with it.`,
    { expected, found: answered },
  );
}

/** Deletes what was read just before; false when somebody else did so meanwhile. */
async function erase(client: HttpClient, args: DeleteArguments): Promise<boolean> {
  const operation = "Delete($id: String!) { commentDelete(id: $id) { success entityId } }";
  try {
    await mutate<{ readonly commentDelete: { readonly success: boolean; readonly entityId: string } }>(
      client,
      operation,
      { id: args.comment_id },
      ({ commentDelete: { success } }) => success,
    );
    return true;
  } catch (error) {
    // Of an archived issue, too, Linear may say that there is no such comment.
    if (saysNotFound(error, "Comment") && !(await readUnlessGone(client, args))) return false;
    throw error;
  }
}

const commentId = uuid("Comment UUID.");
export const sha256 = { pattern: "^[0-9a-f]{64}$" };

export const deleteComment = tool
  .idempotent("delete_comment", {
    description: "Delete a comment for good. A comment that is gone already is success.",
    permission: "linear:comments:write",
    input: s.object(
      { comment_id: commentId },
      {
        issue_id: uuid("Its issue, read to prove access when the comment is not found."),
        expected_organization_id: expectedOrganizationId,
        expected_sha256: s.nullable(
          s.string(
            "Hash of the text the undone step left, as the service returned it; null when not known.",
            sha256,
          ),
        ),
      },
    ),
    output: s.object({ comment_id: commentId, already }),
    target: ["comment_id"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await readUnlessGone(client, args)) === undefined)
  .run(async ({ client, args, onConflict }) => {
    const { comment_id } = args;
    const found = await readUnlessGone(client, args);
    if (found === undefined) return { comment_id, already: true };
    await checkUnchanged(client, found, args, onConflict);
    return { comment_id, already: !(await erase(client, args)) };
  });
