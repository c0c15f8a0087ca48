import { ConnectorError, s } from "@reversi-connector/core";
import { type HttpReader, path, segments } from "@reversi-connector/http";
import { checkRefName } from "./branch-name.ts";
import { tool } from "./client.ts";
import { already, type Pointer } from "./objects.ts";
import {
  erase,
  isToDelete,
  type RepositoryName,
  readRepository,
  repository,
  unlessGone,
} from "./repository.ts";

/** The object at `heads/x` or `tags/x`; undefined when there is no such reference. */
async function readRef(client: HttpReader, { owner, repo }: RepositoryName, ref: string) {
  const reading = client.read<Pointer>({
    path: path`/repos/${owner}/${repo}/git/ref/${segments(ref)}`,
    expect: ["object.sha"],
  });
  return (await unlessGone(client, { owner, repo }, reading))?.body.object;
}

interface BranchName extends RepositoryName {
  readonly branch: string;
}
/** The commit a branch points at; undefined when there is no such branch. */
const readBranch = async (client: HttpReader, { branch, ...name }: BranchName) =>
  (await readRef(client, name, `heads/${branch}`))?.sha;

const isSha = (text: string) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text);

/** The commit that `from` means: a SHA, a branch, a tag, in this order; the default branch when left out. */
async function commitOf(client: HttpReader, name: RepositoryName, from: string | undefined) {
  if (from !== undefined && isSha(from)) return from.toLowerCase();
  if (from !== undefined) checkRefName("from", from);
  const base = from ?? (await readRepository(client, name)).default_branch;
  let object =
    (await readRef(client, name, `heads/${base}`)) ?? (await readRef(client, name, `tags/${base}`));
  while (object?.type === "tag") {
    const { owner, repo } = name;
    const tag = path`/repos/${owner}/${repo}/git/tags/${object.sha}`;
    object = (await client.read<Pointer>({ path: tag, expect: ["object.sha"] })).body.object;
  }
  if (object) return object.sha;
  throw new ConnectorError(
    `${name.owner}/${name.repo} has no branch and no tag ${base}; give one of these, or a whole commit SHA`,
  );
}

const branch = s.string("Branch name, such as `feature/x`; names git forbids are refused.", {
  minLength: 1,
  maxLength: 244,
  pattern: "^[^\\u0000-\\u0020~^:?*\\[\\\\\\u007f]+$",
});
const sha = { pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$" };

const saysNoReference = ({ status, reason }: ConnectorError) =>
  (status === 422 || status === 404) && reason === "Reference does not exist";

export const deleteBranch = tool
  .idempotent("delete_branch", {
    description: "Delete a branch. A branch that is gone already is success.",
    permission: "github:branch:delete",
    input: s.object(
      { ...repository, branch },
      { expected_sha: s.string("Delete only while the branch points at this commit.", sha) },
    ),
    output: s.object({
      branch,
      sha: s.nullable(s.string("Commit it pointed at; null when it was gone already.", sha)),
      already,
    }),
    target: ["owner", "repo", "branch"],
    guard: { kind: "version", server_side: false },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    checkRefName("branch", args.branch);
    return (await readBranch(client, args)) === undefined;
  })
  .run(async ({ client, args, onConflict }) => {
    const { owner, repo, branch, expected_sha } = args;
    checkRefName("branch", branch);
    const now = await readBranch(client, args);
    const what = `branch ${branch} of ${owner}/${repo}`;
    const gone = { branch, sha: null, already: true };
    if (!isToDelete({ what, now, expected: expected_sha, onConflict })) return gone;
    const ref = path`/repos/${owner}/${repo}/git/refs/${segments(`heads/${branch}`)}`;
    const isGone = async (refusal: ConnectorError) =>
      saysNoReference(refusal) || (refusal.status === 404 && (await readBranch(client, args)) === undefined);
    return (await erase(client, ref, isGone)) ? { branch, sha: now ?? null, already: false } : gone;
  });

export const createBranch = tool
  .reversible("create_branch", {
    description: "Create a branch. An existing branch is an error.",
    permission: "github:branch:write",
    input: s.object(
      { ...repository, branch },
      {
        from: s.string("Branch, tag or commit SHA to start from; the default branch when left out.", {
          minLength: 1,
          maxLength: 244,
        }),
      },
    ),
    output: s.object({ branch, sha: s.string("Commit the branch points at.", sha) }),
    additive: true,
    compensation: {
      tool: deleteBranch,
      argument_map: {
        owner: "args.owner",
        repo: "args.repo",
        branch: "args.branch",
        expected_sha: "result.sha",
      },
    },
    checkpoint: { result: ["branch", "sha"], guard: "expected_sha" },
    residue: [{ id: "ci", text: "Webhooks and workflows may have run." }],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const { branch, sha } = checkpoint?.result ?? {};
    if (!branch || !sha) return "unknown";
    const now = await readBranch(client, args);
    if (now === undefined) return { landed: false };
    return now === sha ? { landed: true, result: { branch, sha } } : "unknown";
  })
  .run(async ({ client, args, checkpoint }) => {
    const { owner, repo, branch, from } = args;
    checkRefName("branch", branch);
    const sha = await commitOf(client, args, from);
    const now = await readBranch(client, args);
    if (now) throw new ConnectorError(`branch ${branch} exists already, at ${now}; nothing was sent`);
    await checkpoint({ result: { branch, sha } });
    const { body: made } = await client.write<Pointer>({
      method: "POST",
      path: path`/repos/${owner}/${repo}/git/refs`,
      json: { ref: `refs/heads/${branch}`, sha },
      expect: ["object.sha"],
    });
    return { branch, sha: made.object.sha };
  });
