import { type Issue, identifierOf, type Named, type World } from "./world.ts";

/** What a user could see, without ids and times. */
export function visibleState(world: World) {
  const nameIn = (list: readonly Named[], wanted: string | null) =>
    list.find((item) => item.id === wanted)?.name ?? null;
  const thread = (issue: Issue, parent: string | null): object[] =>
    world.comments
      .filter((comment) => comment.issue === issue.id && comment.parent === parent)
      .map((comment) => ({
        author: nameIn(world.users, comment.author),
        body: comment.body,
        edited: comment.editedAt !== null,
        replies: thread(issue, comment.id),
      }));
  return {
    issues: world.issues.map((issue) => ({
      identifier: identifierOf(world, issue),
      title: issue.title,
      description: issue.description,
      priority: issue.priority,
      state: world.teams.flatMap(({ states }) => states).find((state) => state.id === issue.state)?.name,
      assignee: nameIn(world.users, issue.assignee),
      labels: issue.labels.map((label) => nameIn(world.labels, label)),
      project: nameIn(world.projects, issue.project),
      parent: world.issues
        .filter((other) => other.id === issue.parent)
        .map((other) => identifierOf(world, other))
        .join(),
      due: issue.dueDate,
      archived: issue.archivedAt !== null,
      trashed: issue.trashed,
      comments: thread(issue, null),
    })),
  };
}
