import { s, sha256Hex } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { createIssue } from "./issues.ts";
import { already, type Comment, issue, issueNumber, url } from "./objects.ts";
import { erase, isToDelete, type RepositoryName, repository, unlessGone } from "./repository.ts";

interface CommentName extends RepositoryName {
  readonly comment_id: number;
}
const commentPath = ({ owner, repo, comment_id }: CommentName) =>
  path`/repos/${owner}/${repo}/issues/comments/${comment_id}`;

/** SHA-256 of the comment's text; undefined when the comment is gone. */
async function readHash(client: HttpReader, name: CommentName): Promise<string | undefined> {
  const reading = client.read<Comment>({ path: commentPath(name), expect: ["id", "body"] });
  const answer = await unlessGone(client, name, reading);
  return answer && sha256Hex(answer.body.body);
}

const commentId = s.integer("Id of the comment.", { minimum: 1 });
const sha256 = { pattern: "^[0-9a-f]{64}$" };

export const deleteComment = tool
  .idempotent("delete_comment", {
    description: "Delete a comment for good. A comment that is gone already is success.",
    permission: "github:issues:write",
    input: s.object(
      { ...repository, comment_id: commentId },
      {
        expected_sha256: s.nullable(
          s.string(
            "Hash of the text the undone step left, as the service returned it; null when not known.",
            sha256,
          ),
        ),
      },
    ),
    output: s.object({ comment_id: commentId, already }),
    target: ["owner", "repo", "comment_id"],
    guard: { kind: "content", server_side: false },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await readHash(client, args)) === undefined)
  .run(async ({ client, args, onConflict }) => {
    const { owner, repo, comment_id, expected_sha256 } = args;
    const now = await readHash(client, args);
    const what = `text of comment ${comment_id} of ${owner}/${repo} (SHA-256)`;
    if (!isToDelete({ what, now, expected: expected_sha256, onConflict }))
      return { comment_id, already: true };
    const isGone = async () => (await readHash(client, args)) === undefined;
    const erased = await erase(client, commentPath(args), ({ status }) => status === 404 && isGone());
    return { comment_id, already: !erased };
  });

export const addComment = tool
  .reversible("add_comment", {
    description: "Comment on an issue.",
    permission: "github:issues:write",
    input: s.object({ ...issue, body: s.string("Text, Markdown.", { minLength: 1, maxLength: 65_536 }) }),
    output: s.object({
      issue_number: issueNumber,
      comment_id: commentId,
      sha256: s.string("SHA-256 of the text as the service returned it.", sha256),
      url,
    }),
    additive: true,
    compensation: {
      tool: deleteComment,
      argument_map: {
        owner: "args.owner",
        repo: "args.repo",
        comment_id: "result.comment_id",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      {
        tool: createIssue,
        match: { owner: "args.owner", repo: "args.repo", issue_number: "result.issue_number" },
      },
    ],
    residue: [{ id: "notified", text: "Notifications and webhooks went out." }],
  })
  .run(async ({ client, args: { owner, repo, issue_number, body } }) => {
    const { body: made } = await client.write<Comment>({
      method: "POST",
      path: path`/repos/${owner}/${repo}/issues/${issue_number}/comments`,
      json: { body },
      expect: ["id", "body", "html_url"],
    });
    return { issue_number, comment_id: made.id, sha256: sha256Hex(made.body), url: made.html_url };
  });
