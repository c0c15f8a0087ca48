import { type Comment, findLabel, type Issue, type Label, type Repository } from "./world.ts";

/** Where the sandbox is, as its answers name it: `http://127.0.0.1:1234`. */
export type Base = string;
const site = "https://github.com";

const nodeId = (kind: string, id: number) => `${kind}_${Buffer.from(String(id)).toString("base64url")}`;
const repositoryUrl = (base: Base, { owner, name }: Repository) => `${base}/repos/${owner}/${name}`;

/** Fields that are an address below another one: `keys_url` → `…/keys{/key_id}`. */
const below = (address: string, paths: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(paths).map(([name, path]) => [`${name}_url`, `${address}/${path}`]));

export const userOf = (base: Base, login: string) => ({
  login,
  id: [...login].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 2 ** 31,
  node_id: nodeId("U", login.length),
  avatar_url: `${site}/${login}.png`,
  gravatar_id: "",
  url: `${base}/users/${login}`,
  html_url: `${site}/${login}`,
  ...below(`${base}/users/${login}`, {
    followers: "followers",
    following: "following{/other_user}",
    gists: "gists{/gist_id}",
    starred: "starred{/owner}{/repo}",
    subscriptions: "subscriptions",
    organizations: "orgs",
    repos: "repos",
    events: "events{/privacy}",
    received_events: "received_events",
  }),
  type: "User",
  site_admin: false,
});

export const labelOf = (base: Base, repository: Repository, { id, name, color, description }: Label) => ({
  id,
  node_id: nodeId("LA", id),
  url: `${repositoryUrl(base, repository)}/labels/${encodeURIComponent(name)}`,
  name,
  color,
  description,
  default: name === "bug",
});

export const labelsOn = (base: Base, repository: Repository, { labels }: Issue) =>
  labels.flatMap((name) => {
    const label = findLabel(repository, name);
    return label ? [labelOf(base, repository, label)] : [];
  });

export function issueOf(base: Base, repository: Repository, issue: Issue) {
  const { id, number, title, body, state, locked, head } = issue;
  const { owner, name } = repository;
  const url = `${repositoryUrl(base, repository)}/issues/${number}`;
  const pull = `${site}/${owner}/${name}/pull/${number}`;
  const assignees = issue.assignees.map((assignee) => userOf(base, assignee));
  return {
    ...{ id, number, title, body, state, locked, url },
    node_id: nodeId("I", id),
    repository_url: repositoryUrl(base, repository),
    ...below(url, { labels: "labels{/name}", comments: "comments", events: "events", timeline: "timeline" }),
    html_url: head === undefined ? `${site}/${owner}/${name}/issues/${number}` : pull,
    state_reason: issue.stateReason,
    user: userOf(base, issue.author),
    labels: labelsOn(base, repository, issue),
    assignee: assignees[0] ?? null,
    assignees,
    milestone: null,
    active_lock_reason: null,
    comments: repository.comments.filter((comment) => comment.issue === number).length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    closed_by: null,
    author_association: "MEMBER",
    ...(head !== undefined && {
      draft: false,
      pull_request: {
        url: `${repositoryUrl(base, repository)}/pulls/${number}`,
        html_url: pull,
        diff_url: `${pull}.diff`,
        patch_url: `${pull}.patch`,
        merged_at: null,
      },
    }),
  };
}

export function commentOf(
  base: Base,
  repository: Repository,
  { id, issue, body, author, ...times }: Comment,
) {
  const { owner, name } = repository;
  return {
    id,
    node_id: nodeId("IC", id),
    url: `${repositoryUrl(base, repository)}/issues/comments/${id}`,
    html_url: `${site}/${owner}/${name}/issues/${issue}#issuecomment-${id}`,
    issue_url: `${repositoryUrl(base, repository)}/issues/${issue}`,
    body,
    user: userOf(base, author),
    created_at: times.createdAt,
    updated_at: times.updatedAt,
    author_association: "MEMBER",
  };
}

const objectOf = (base: Base, repository: Repository, sha: string) => {
  const type = repository.objects.get(sha)?.type ?? "commit";
  return { type, sha, url: `${repositoryUrl(base, repository)}/git/${type}s/${sha}` };
};

export const refOf = (base: Base, repository: Repository, ref: string, sha: string) => ({
  ref: `refs/${ref}`,
  node_id: nodeId("REF", ref.length),
  url: `${repositoryUrl(base, repository)}/git/refs/${ref.split("/").map(encodeURIComponent).join("/")}`,
  object: objectOf(base, repository, sha),
});

export const tagOf = (base: Base, repository: Repository, sha: string, target: string) => ({
  node_id: nodeId("TA", sha.length),
  tag: [...repository.refs].find(([, object]) => object === sha)?.[0].replace("tags/", "") ?? "",
  sha,
  url: `${repositoryUrl(base, repository)}/git/tags/${sha}`,
  message: "",
  tagger: { name: "ada", email: "ada@example.com", date: "2026-07-01T10:00:00Z" },
  object: objectOf(base, repository, target),
});

export function repositoryOf(base: Base, repository: Repository) {
  const { id, owner, name, defaultBranch, archived, hasIssues, issues, push } = repository;
  const url = repositoryUrl(base, repository);
  const html = `${site}/${owner}/${name}`;
  const open = issues.filter(({ state, deleted }) => state === "open" && !deleted).length;
  const created = "2026-01-05T09:00:00Z";
  return {
    ...{ id, name, archived, url },
    node_id: nodeId("R", id),
    full_name: `${owner}/${name}`,
    owner: userOf(base, owner),
    private: true,
    visibility: "private",
    html_url: html,
    description: null,
    fork: false,
    ...below(url, {
      archive: "{archive_format}{/ref}",
      assignees: "assignees{/user}",
      blobs: "git/blobs{/sha}",
      branches: "branches{/branch}",
      collaborators: "collaborators{/collaborator}",
      comments: "comments{/number}",
      commits: "commits{/sha}",
      compare: "compare/{base}...{head}",
      contents: "contents/{+path}",
      contributors: "contributors",
      deployments: "deployments",
      downloads: "downloads",
      events: "events",
      forks: "forks",
      git_commits: "git/commits{/sha}",
      git_refs: "git/refs{/sha}",
      git_tags: "git/tags{/sha}",
      hooks: "hooks",
      issue_comment: "issues/comments{/number}",
      issue_events: "issues/events{/number}",
      issues: "issues{/number}",
      keys: "keys{/key_id}",
      labels: "labels{/name}",
      languages: "languages",
      merges: "merges",
      milestones: "milestones{/number}",
      notifications: "notifications{?since,all,participating}",
      pulls: "pulls{/number}",
      releases: "releases{/id}",
      stargazers: "stargazers",
      statuses: "statuses/{sha}",
      subscribers: "subscribers",
      subscription: "subscription",
      tags: "tags",
      teams: "teams",
      trees: "git/trees{/sha}",
    }),
    clone_url: `${html}.git`,
    git_url: `git://github.com/${owner}/${name}.git`,
    ssh_url: `git@github.com:${owner}/${name}.git`,
    svn_url: html,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    ...{ forks: 0, forks_count: 0, network_count: 0, subscribers_count: 1 },
    ...{ stargazers_count: 0, watchers: 0, watchers_count: 0, size: 108 },
    default_branch: defaultBranch,
    open_issues: open,
    open_issues_count: open,
    has_issues: hasIssues,
    ...{ has_projects: true, has_wiki: false, has_pages: false, has_discussions: false, has_downloads: true },
    disabled: false,
    ...{ pushed_at: created, created_at: created, updated_at: created },
    permissions: { admin: false, maintain: false, push, triage: push, pull: true },
  };
}
