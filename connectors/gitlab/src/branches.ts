import { ConnectorError, s } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { checkRefName } from "./branch-name.ts";
import { tool } from "./client.ts";
import { deleteUnchanged } from "./deletion.ts";
import { already, type Branch, type Tag, url } from "./objects.ts";
import {
  around,
  inPath,
  isNotFound,
  type Project,
  type ProjectName,
  project,
  projectId,
  readProject,
} from "./project.ts";

interface BranchName extends ProjectName {
  readonly branch: string;
}
const branchesPath = (name: ProjectName) => path`/projects/${inPath(name)}/repository/branches`;
const branchPath = (name: BranchName) => `${branchesPath(name)}${path`/${name.branch}`}`;

/** Whether GitLab says of just that thing that there is none. */
const saysNone = (thing: "Branch" | "Tag", error: unknown): error is ConnectorError =>
  isNotFound(error) && error.reason === `404 ${thing} Not Found`;

async function readBranch(client: HttpReader, name: BranchName): Promise<Branch> {
  return (await client.read<Branch>({ path: branchPath(name), expect: ["commit.id", "web_url"] })).body;
}

/**
 * Undefined when there is no such branch, on GitLab's word for just that, and while its project can be read.
 * @throws ConnectorError when nobody can tell
 */
async function findBranch(client: HttpReader, name: BranchName): Promise<Branch | undefined> {
  try {
    return await readBranch(client, name);
  } catch (error) {
    if (!saysNone("Branch", error)) throw error;
    await around(error, `project ${name.project}`, readProject(client, name));
    return undefined;
  }
}

/** The commit of a branch or tag; undefined when there is none. */
async function commitIn(
  thing: "Branch" | "Tag",
  reading: Promise<{ readonly commit: { readonly id: string } }>,
) {
  try {
    return (await reading).commit.id;
  } catch (error) {
    if (saysNone(thing, error)) return undefined;
    throw error;
  }
}

const isSha = (text: string) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text);

const readTag = async (client: HttpReader, project: number, name: string) => {
  const at = path`/projects/${project}/repository/tags/${name}`;
  return (await client.read<Tag>({ path: at, expect: ["commit.id"] })).body;
};

/** The commit that `from` means: a SHA, a branch, a tag, in this order; the default branch when left out. */
async function commitOf(client: HttpReader, { id, default_branch }: Project, from: string | undefined) {
  if (from !== undefined && isSha(from)) return from.toLowerCase();
  if (from !== undefined) checkRefName("from", from);
  const name = from ?? default_branch;
  if (!name) throw new ConnectorError(`project ${id} has no commit to start from; nothing was sent`);
  const sha =
    (await commitIn("Branch", readBranch(client, { project: id, branch: name }))) ??
    (await commitIn("Tag", readTag(client, id, name)));
  if (sha !== undefined) return sha;
  throw new ConnectorError(
    `project ${id} has no branch and no tag ${name}; give one of these, or a whole commit SHA`,
  );
}

const branch = s.string("Branch name, such as `feature/x`; names git forbids are refused.", {
  minLength: 1,
  maxLength: 244,
  pattern: "^[^\\u0000-\\u0020~^:?*\\[\\\\\\u007f]+$",
});
const sha = { pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$" };

export const deleteBranch = tool
  .idempotent("delete_branch", {
    description: "Delete a branch. A branch that is gone already is success.",
    permission: "gitlab:branch:delete",
    input: s.object(
      { project, branch },
      { expected_sha: s.string("Delete only while the branch points at this commit.", sha) },
    ),
    output: s.object({
      branch,
      sha: s.nullable(s.string("Commit it pointed at; null when it was gone already.", sha)),
      already,
    }),
    target: ["project", "branch"],
    guard: { kind: "version", server_side: false },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => {
    checkRefName("branch", args.branch);
    return (await findBranch(client, args)) === undefined;
  })
  .run(async ({ client, args, onConflict }) => {
    const { project, branch, expected_sha: expected } = args;
    checkRefName("branch", branch);
    const commit = (await findBranch(client, args))?.commit;
    const deleted = await deleteUnchanged(client, {
      what: `branch ${branch} of project ${project}`,
      path: branchPath(args),
      now: commit?.id,
      expected,
      onConflict,
      changedAt: commit?.authored_date,
      isGone: async () => (await findBranch(client, args)) === undefined,
    });
    return { branch, sha: deleted && commit ? commit.id : null, already: !deleted };
  });

export const createBranch = tool
  .reversible("create_branch", {
    description: "Create a branch. An existing branch is an error.",
    permission: "gitlab:branch:write",
    input: s.object(
      { project, branch },
      {
        from: s.string("Branch, tag or commit SHA to start from; the default branch when left out.", {
          minLength: 1,
          maxLength: 244,
        }),
      },
    ),
    output: s.object({
      project_id: projectId,
      branch,
      sha: s.string("Commit the branch points at.", sha),
      url,
    }),
    additive: true,
    compensation: {
      tool: deleteBranch,
      argument_map: { project: "result.project_id", branch: "args.branch", expected_sha: "result.sha" },
    },
    checkpoint: { result: ["project_id", "branch", "sha"], guard: "expected_sha" },
    residue: [{ id: "ci", text: "Webhooks and pipelines may have run." }],
  })
  .landed(async ({ client, checkpoint }) => {
    const { project_id, branch, sha } = checkpoint?.result ?? {};
    if (!project_id || !branch || !sha) return "unknown";
    const now = await findBranch(client, { project: project_id, branch });
    if (!now) return { landed: false };
    if (now.commit.id !== sha) return "unknown";
    return { landed: true, result: { project_id, branch, sha, url: now.web_url } };
  })
  .run(async ({ client, args, checkpoint }) => {
    const { branch, from } = args;
    checkRefName("branch", branch);
    const found = await readProject(client, args);
    const name = { project: found.id, branch };
    const sha = await commitOf(client, found, from);
    const now = await commitIn("Branch", readBranch(client, name));
    if (now) throw new ConnectorError(`branch ${branch} exists already, at ${now}; nothing was sent`);
    await checkpoint({ result: { project_id: found.id, branch, sha } });
    const { body: made } = await client.write<Branch>({
      method: "POST",
      path: branchesPath(name),
      json: { branch, ref: sha },
      expect: ({ commit, web_url }: Branch) => commit.id === sha && typeof web_url === "string",
    });
    return { project_id: found.id, branch, sha, url: made.web_url };
  });
