import { branchOf, tagOf } from "./objects.ts";
import type { Call, Endpoint } from "./wire.ts";

/** `git check-ref-format`, and what GitLab adds to it. */
const isRefName = (name: string) =>
  !/^refs\/(?:heads|remotes|tags)\/|^-|^HEAD$/.test(name) &&
  !/[\p{Cc} ~^:?*[\\]|\.\.|@\{|^\/|\/\/|\/$|\.$/u.test(name) &&
  name !== "@" &&
  name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));

function findBranch(call: Call): readonly [name: string, sha: string] {
  const name = call.request.params["branch"] ?? "";
  call.need("reporter");
  if (!isRefName(name)) call.fail(400, "The branch refname is invalid");
  return [name, call.project.branches.get(name) ?? call.fail(404, "404 Branch Not Found")];
}

export const getBranch: Endpoint = (call) => ({
  status: 200,
  body: branchOf(call.project, ...findBranch(call)),
});

export const headBranch: Endpoint = (call) => {
  call.need("reporter");
  return { status: call.project.branches.has(call.request.params["branch"] ?? "") ? 204 : 404 };
};

export const getTag: Endpoint = (call) => {
  const name = call.request.params["tag_name"] ?? "";
  call.need("reporter");
  const sha = call.project.tags.get(name) ?? call.fail(404, "404 Tag Not Found");
  return { status: 200, body: tagOf(call.project, name, sha) };
};

export const createBranch: Endpoint = (call) => {
  const { project, fail } = call;
  const { branches, tags, commits } = project;
  const given = call.fields({ branch: "string", ref: "string" }, ["branch", "ref"]);
  const [branch, ref] = [`${given["branch"]}`, `${given["ref"]}`];
  if (branch === "") call.invalid("branch is empty");
  if (ref === "") call.invalid("ref is empty");
  call.need("developer");
  const cannot = `Failed to create branch '${branch}': `;
  if (!isRefName(branch)) fail(400, "Branch name is invalid");
  if (branches.has(branch)) fail(400, "Branch already exists");
  if (/^[0-9a-f]{40}$/i.test(branch)) {
    fail(400, "You cannot create a branch with a 40-character hexadecimal branch name.");
  }
  const sha = tags.get(ref) ?? branches.get(ref) ?? ref;
  if (!commits.has(sha)) fail(400, `${cannot}invalid reference name '${ref}'`);
  const clashes = [...branches.keys()].some(
    (other) => other.startsWith(`${branch}/`) || branch.startsWith(`${other}/`),
  );
  if (clashes) fail(400, `${cannot}Branch name conflicts with existing branch hierarchy.`);
  branches.set(branch, sha);
  return { status: 201, body: branchOf(project, branch, sha) };
};

export const deleteBranch: Endpoint = (call) => {
  const { project, fail } = call;
  const [name, sha] = findBranch(call);
  call.need("developer");
  call.unmodifiedSince(project.commits.get(sha)?.authoredAt ?? 0);
  if (name === project.defaultBranch) fail(405, "Cannot remove HEAD branch");
  if (project.protectedBranches.has(name)) fail(405, "Protected branch cant be removed");
  project.branches.delete(name);
  return { status: 204 };
};
