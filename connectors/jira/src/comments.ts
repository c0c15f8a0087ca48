import { ConflictError, hashOf, type OnConflict, s } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { readStatus } from "./access.ts";
import { documentOf } from "./adf.ts";
import { isEmpty, saysMissing, tool } from "./client.ts";
import { createIssue } from "./create.ts";
import { already, type Comment, commentId, isMarked, issueId, issueName, marker, markOf } from "./objects.ts";

interface CommentName {
  readonly issue_id: string;
  readonly comment_id: string;
}
const commentsPath = (issue: string) => path`/issue/${issue}/comment`;
const commentPath = ({ issue_id, comment_id }: CommentName) => path`/issue/${issue_id}/comment/${comment_id}`;

/** Whether an answer is a comment, with the document that guards its undo. */
const isComment = ({ id, body }: Partial<Comment>) => typeof id === "string" && body?.type === "doc";

/** What `request` brings; undefined when the comment is gone: a 404 counts only while its issue is shown. */
async function unlessGone<T>(client: HttpReader, { issue_id }: CommentName, request: Promise<T>) {
  try {
    return await request;
  } catch (error) {
    if (!saysMissing(error)) throw error;
    await readStatus(client, issue_id);
    return undefined;
  }
}

async function readComment(client: HttpReader, name: CommentName): Promise<Comment | undefined> {
  const reading = client.read<Comment>({ path: commentPath(name), expect: isComment });
  return (await unlessGone(client, name, reading))?.body;
}

/** The hash of a comment's own document, formatting included. */
const hashOfBody = ({ body }: Comment): string => hashOf(body);

/** @throws ConflictError when somebody edited the comment */
function checkUntouched(
  comment: Comment,
  expected: string | null | undefined,
  onConflict: OnConflict | undefined,
): void {
  const found = hashOfBody(comment);
  if (!expected || found === expected || onConflict === "overwrite") return;
  throw new ConflictError(
    `comment ${comment.id}: edited since; expected the text with SHA-256 ${expected}, found ${found}. Nothing was deleted.`,
    { expected, found },
  );
}

export const deleteComment = tool
  .idempotent("delete_comment", {
    description: "Delete a comment for good. A comment that is gone already is success.",
    permission: "jira:comments:write",
    input: s.object(
      { issue_id: issueName, comment_id: commentId },
      {
        expected_sha256: s.nullable(
          s.string(
            "Hash of the text the undone step left, as the service returned it; null when not known.",
            {
              pattern: "^[0-9a-f]{64}$",
            },
          ),
        ),
      },
    ),
    output: s.object({ comment_id: commentId, already }),
    target: ["issue_id", "comment_id"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await readComment(client, args)) === undefined)
  .run(async ({ client, args, onConflict }) => {
    const { comment_id } = args;
    const comment = await readComment(client, args);
    if (!comment) return { comment_id, already: true };
    checkUntouched(comment, args.expected_sha256, onConflict);
    const erasing = client.write({ method: "DELETE", path: commentPath(args), expect: isEmpty });
    return { comment_id, already: (await unlessGone(client, args, erasing)) === undefined };
  });

interface Page {
  readonly comments: readonly Comment[];
  readonly total: number;
}
const pageSize = 100;
const maxPages = 10;

/** The comment that carries the key of a call; undefined when the issue has none; "unknown" when it has too many. */
async function findMarked(client: HttpReader, issue: string, op: string) {
  let seen = 0;
  for (let pages = 0; pages < maxPages; pages++) {
    const { body } = await client.read<Page>({
      path: commentsPath(issue),
      query: { orderBy: "-created", startAt: seen, maxResults: pageSize, expand: "properties" },
      expect: ({ comments, total }: Partial<Page>) => Array.isArray(comments) && typeof total === "number",
    });
    const made = body.comments.find(({ properties = [] }) =>
      properties.some(({ key, value }) => key === marker && isMarked(value, op)),
    );
    if (made) return made;
    seen += body.comments.length;
    if (seen >= body.total) return undefined;
    if (body.comments.length === 0) return "unknown";
  }
  return "unknown";
}

const resultOf = (issue_id: string, comment: Comment) => ({
  issue_id,
  comment_id: comment.id,
  sha256: hashOfBody(comment),
});

const internalOnly = { key: "sd.public.comment", value: { internal: true } };

export const addComment = tool
  .reversible("add_comment", {
    description: "Comment on an issue. On service projects the customer sees it unless `internal`.",
    permission: "jira:comments:write",
    input: s.object(
      {
        issue_id: issueName,
        body: s.string("Text; each line becomes a paragraph.", { minLength: 1, maxLength: 32_767 }),
      },
      { internal: s.boolean("Only agents see it (service projects).", { default: false }) },
    ),
    output: s.object({
      issue_id: issueId,
      comment_id: commentId,
      sha256: s.string("SHA-256 of the text as the service returned it.", { pattern: "^[0-9a-f]{64}$" }),
    }),
    additive: true,
    compensation: {
      tool: deleteComment,
      argument_map: {
        issue_id: "result.issue_id",
        comment_id: "result.comment_id",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      { tool: createIssue, match: { issue_id: "result.issue_id" } },
      { tool: createIssue, match: { issue_id: "result.issue_key" } },
    ],
    checkpoint: { result: ["issue_id"] },
    residue: [{ id: "notified", text: "Mails and webhooks went out." }],
  })
  .landed(async ({ client, args, idempotencyKey, checkpoint }) => {
    if (idempotencyKey === undefined) return "unknown";
    const issue_id = checkpoint?.result.issue_id ?? (await readStatus(client, args.issue_id)).id;
    const made = await findMarked(client, issue_id, idempotencyKey);
    if (made === "unknown") return made;
    return made ? { landed: true, result: resultOf(issue_id, made) } : { landed: false };
  })
  .run(async ({ client, args, idempotencyKey, checkpoint }) => {
    const { id: issue_id } = await readStatus(client, args.issue_id);
    await checkpoint({ result: { issue_id } });
    const { body } = await client.write<Comment>({
      method: "POST",
      path: commentsPath(issue_id),
      json: {
        body: documentOf(args.body),
        properties: [markOf(idempotencyKey), ...(args.internal ? [internalOnly] : [])],
      },
      expect: isComment,
    });
    return resultOf(issue_id, body);
  });
