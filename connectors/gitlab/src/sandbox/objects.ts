import { type Issue, login, type Note, type Project, roles, type Time } from "./world.ts";

const site = "https://gitlab.com";

export const shown = (time: Time) => new Date(Math.floor(time / 1000)).toISOString();
const shownOrNull = (time: Time | null) => (time === null ? null : shown(time));
const numberOf = (text: string) =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 31, 7);

export const userOf = (username: string) => ({
  id: numberOf(username),
  username,
  public_email: "",
  name: username,
  state: "active",
  locked: false,
  avatar_url: null,
  web_url: `${site}/${username}`,
});

export function issueOf(api: string, project: Project, issue: Issue) {
  const { id, iid, title, description, state, labels, confidential } = issue;
  const self = `${api}/projects/${project.id}/issues/${iid}`;
  return {
    ...{ id, iid, title, description, state, labels, confidential },
    project_id: project.id,
    created_at: shown(issue.createdAt),
    updated_at: shown(issue.updatedAt),
    closed_at: shownOrNull(issue.closedAt),
    closed_by: state === "closed" ? userOf(login) : null,
    milestone: null,
    assignees: [],
    author: userOf(issue.author),
    type: "ISSUE",
    assignee: null,
    user_notes_count: issue.notes.length,
    merge_requests_count: 0,
    ...{ upvotes: 0, downvotes: 0, due_date: null },
    discussion_locked: issue.locked || null,
    issue_type: "issue",
    web_url: `${site}/${project.path}/-/issues/${iid}`,
    time_stats: {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    },
    task_completion_status: { count: 0, completed_count: 0 },
    blocking_issues_count: 0,
    has_tasks: false,
    _links: {
      self,
      notes: `${self}/notes`,
      award_emoji: `${self}/award_emoji`,
      project: `${api}/projects/${project.id}`,
      closed_as_duplicate_of: null,
    },
    references: { short: `#${iid}`, relative: `#${iid}`, full: `${project.path}#${iid}` },
    severity: "UNKNOWN",
    moved_to_id: issue.movedToId,
    ...{ imported: false, imported_from: "none", service_desk_reply_to: null },
  };
}

export const noteOf = (project: Project, issue: Issue, note: Note, changes: object = {}) => ({
  id: note.id,
  type: null,
  body: note.body,
  author: userOf(note.author),
  created_at: shown(note.createdAt),
  updated_at: shown(note.updatedAt),
  system: false,
  noteable_id: issue.id,
  noteable_type: "Issue",
  project_id: project.id,
  resolvable: false,
  confidential: note.internal,
  internal: note.internal,
  ...{ imported: false, imported_from: "none" },
  noteable_iid: issue.iid,
  commands_changes: changes,
});

export function commitOf({ path, commits }: Project, sha: string) {
  const { title, authoredAt } = commits.get(sha) ?? { title: "", authoredAt: 0 };
  const at = shown(authoredAt).replace("Z", "+00:00");
  return {
    id: sha,
    short_id: sha.slice(0, 8),
    created_at: at,
    parent_ids: [],
    title,
    message: title,
    ...{ author_name: "Ada", author_email: "ada@example.com", authored_date: at },
    ...{ committer_name: "Ada", committer_email: "ada@example.com", committed_date: at },
    ...{ trailers: {}, extended_trailers: {} },
    web_url: `${site}/${path}/-/commit/${sha}`,
  };
}

export function branchOf(project: Project, name: string, sha: string) {
  const isProtected = project.protectedBranches.has(name);
  return {
    name,
    commit: commitOf(project, sha),
    merged: false,
    protected: isProtected,
    ...{ developers_can_push: false, developers_can_merge: false },
    can_push: roles[project.role] >= (isProtected ? roles.maintainer : roles.developer),
    default: name === project.defaultBranch,
    web_url: `${site}/${project.path}/-/tree/${name.split("/").map(encodeURIComponent).join("/")}`,
  };
}

export const tagOf = (project: Project, name: string, sha: string) => ({
  name,
  message: "",
  target: sha,
  commit: commitOf(project, sha),
  release: null,
  protected: false,
  created_at: null,
});

export function projectOf({ id, path, defaultBranch, issuesEnabled, branches, role }: Project) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isEmpty = branches.size === 0;
  return {
    id,
    name,
    path: name,
    path_with_namespace: path,
    description: null,
    default_branch: isEmpty ? null : defaultBranch,
    visibility: "private",
    archived: false,
    empty_repo: isEmpty,
    issues_enabled: issuesEnabled,
    issues_access_level: issuesEnabled ? "enabled" : "disabled",
    web_url: `${site}/${path}`,
    permissions: {
      project_access: role === "none" ? null : { access_level: roles[role], notification_level: 3 },
      group_access: null,
    },
  };
}
