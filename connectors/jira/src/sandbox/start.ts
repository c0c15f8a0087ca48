import { documentOf } from "../adf.ts";
import { addComment, addIssue } from "./people.ts";
import {
  ada,
  allPermissions,
  issueTypes,
  type Project,
  type StoredIssue,
  statuses,
  type World,
} from "./world.ts";

const { toDo, inProgress, done } = statuses;

/** A workflow that leads everywhere; finishing sets a resolution, which "Back to backlog" forgets to clear. */
const transitions: World["transitions"] = [
  { id: "11", name: "Start", from: [toDo.id], to: inProgress },
  { id: "21", name: "Stop", from: [inProgress.id], to: toDo },
  { id: "31", name: "Finish", to: done, resolution: "Done" },
  { id: "41", name: "Reopen", from: [done.id], to: inProgress, resolution: null },
  { id: "51", name: "Back to backlog", from: [done.id], to: toDo },
];

const project = (id: string, key: string, isService = false, visible = true): Project => ({
  ...{ id, key, isService, visible },
  lastNumber: 0,
});

/** The project PROJ with two issues, the service project HELP, and SECRET, which the account does not see. */
export function newWorld(): World {
  const [own, help, secret] = [
    project("10000", "PROJ"),
    project("10001", "HELP", true),
    project("10002", "SECRET", false, false),
  ];
  const world: World = {
    projects: [own, help, secret],
    issues: [],
    oldKeys: new Map(),
    transitions,
    permissions: new Set(allPermissions),
    ...{ loginWorks: true, isPublic: false, searchLags: false, tracksTime: true, busy: false },
    ...{ mails: 0, ids: 10_041, clock: 0 },
  };
  const [, task, bug] = issueTypes;
  if (!task || !bug) throw new Error("the sandbox knows tasks and bugs");
  const link = addIssue(world, {
    ...{ project: own, type: bug, summary: "Broken link", assignee: ada },
    description: documentOf("On the front page.\n\nSince yesterday."),
  });
  addComment(world, link, { author: ada, body: documentOf("Looking into it") });
  addIssue(world, { project: own, type: task, summary: "Write the manual", status: inProgress });
  addIssue(world, { project: help, type: task, summary: "Cannot log in" });
  addIssue(world, { project: secret, type: task, summary: "Payroll" });
  return world;
}

const issueState = ({ parent, project: _, ...issue }: StoredIssue) => ({
  parent: parent?.key ?? null,
  type: issue.type.name,
  summary: issue.summary,
  description: issue.description,
  status: issue.status.name,
  resolution: issue.resolution,
  assignee: issue.assignee?.displayName ?? null,
  labels: issue.labels,
  comments: issue.comments.map(({ author, updateAuthor, body, internal }) => ({
    ...{ author: author.displayName, edited: updateAuthor.displayName, body, internal },
  })),
  worklogs: issue.worklogs.map(({ author }) => author.displayName),
  attachments: issue.attachments.map(({ filename }) => filename),
  history: issue.history.flatMap(({ author, items }) =>
    items.map(({ field, fromText, toText }) => [author.displayName, field, fromText, toText]),
  ),
});

/** What people see. */
export const visibleState = ({ projects, issues, mails }: World) => ({
  mails,
  numbers: Object.fromEntries(projects.map(({ key, lastNumber }) => [key, lastNumber])),
  issues: Object.fromEntries(issues.map((issue) => [issue.key, issueState(issue)])),
});
