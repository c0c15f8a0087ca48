import { ConnectorError, InvalidArgumentsError, s } from "@reversi-connector/core";
import { type HttpClient, type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { createIssue } from "./issues.ts";
import { already, type IssueName, issue, issueNumber, type Label, namesOf } from "./objects.ts";
import { readAll, saysDeleted, unlessDeleted } from "./repository.ts";

const labelsPath = ({ owner, repo, issue_number }: IssueName) =>
  path`/repos/${owner}/${repo}/issues/${issue_number}/labels`;

/** The names of all labels on the issue. */
const readLabels = async (client: HttpReader, name: IssueName): Promise<string[]> =>
  namesOf(await readAll<Label>(client, labelsPath(name)));

/** GitHub's label names are equal without regard to case. */
const keyOf = (name: string) => name.toLowerCase();
const among = (names: readonly string[]) => {
  const keys = new Set(names.map(keyOf));
  return (name: string) => keys.has(keyOf(name));
};
/** Those of `names` that are not among `present`, each once. */
const missing = (names: readonly string[], present: readonly string[]): string[] =>
  names.filter((name, index) => !among([...present, ...names.slice(0, index)])(name));

/** @throws InvalidArgumentsError for names that no URL can hold: such a label could never be taken off again */
function checkNames(labels: readonly string[]): void {
  const index = labels.findIndex((name) => name === "." || name === "..");
  if (index === -1) return;
  const problem = { at: `labels[${index}]`, rule: 'must not be "." or "..": no URL could name it' };
  throw new InvalidArgumentsError(
    `the label ${JSON.stringify(labels[index])} (${problem.at}) ${problem.rule}; nothing was sent`,
    { problems: [problem] },
  );
}

const isNotThere = (error: unknown) =>
  ConnectorError.is(error) && error.status === 404 && error.reason === "Label does not exist";

/** The labels left; undefined when the label was off already. GitHub's plain "Not Found" proves nothing of the kind. */
async function takeOff(client: HttpClient, { owner, repo, issue_number }: IssueName, name: string) {
  const label = path`/repos/${owner}/${repo}/issues/${issue_number}/labels/${name}`;
  try {
    const { body } = await client.write<Label[]>({ method: "DELETE", path: label, expect: Array.isArray });
    return namesOf(body);
  } catch (error) {
    if (isNotThere(error) || saysDeleted(error)) return undefined;
    throw error;
  }
}

const labelName = s.string("Label name.", { minLength: 1, maxLength: 50 });

export const removeLabels = tool
  .idempotent("remove_labels", {
    description: "Take labels off an issue. Labels that are not on it are skipped.",
    permission: "github:issues:write",
    input: s.object({
      ...issue,
      labels: s.array(labelName, "The labels to take off; may be empty.", { maxItems: 100 }),
    }),
    output: s.object({
      issue_number: issueNumber,
      removed: s.array(labelName, "What was taken off."),
      labels: s.array(s.string("Label name."), "Labels left on the issue."),
      already,
    }),
    target: ["owner", "repo", "issue_number"],
  })
  .holds(async ({ client, args }) => {
    const now = (await unlessDeleted(readLabels(client, args))) ?? [];
    return !now.some(among(args.labels));
  })
  .run(async ({ client, args }) => {
    checkNames(args.labels);
    const removed: string[] = [];
    let left = (await unlessDeleted(readLabels(client, args))) ?? [];
    for (const name of left.filter(among(args.labels))) {
      const after = await takeOff(client, args, name);
      if (after) removed.push(name);
      left = after ?? left.filter((other) => other !== name);
    }
    return { issue_number: args.issue_number, removed, labels: left, already: removed.length === 0 };
  });

/** Those of `names` that the repository does not know: putting them on an issue creates them. */
async function unknownTo(client: HttpReader, { owner, repo }: IssueName, names: readonly string[]) {
  const unknown: string[] = [];
  for (const name of names) {
    try {
      await client.read({ path: path`/repos/${owner}/${repo}/labels/${name}` });
    } catch (error) {
      if (!ConnectorError.is(error) || error.status !== 404) throw error;
      unknown.push(name);
    }
  }
  return unknown;
}

/** Puts labels on the issue; the names of all that are on it then. */
async function putOn(client: HttpClient, name: IssueName, labels: readonly string[]): Promise<string[]> {
  const request = { method: "POST", path: labelsPath(name), json: { labels } } as const;
  const { body } = await client.write<Label[]>({ ...request, expect: Array.isArray });
  return namesOf(body);
}

export const addLabels = tool
  .reversible("add_labels", {
    description: "Put labels on an issue, besides those it has.",
    permission: "github:issues:write",
    input: s.object({
      ...issue,
      labels: s.array(labelName, "The labels to put on; `.` and `..` are refused.", {
        minItems: 1,
        maxItems: 100,
      }),
    }),
    output: s.object({
      issue_number: issueNumber,
      added: s.array(labelName, "Labels this call added (those not on the issue before)."),
      created_labels: s.array(labelName, "Labels the repository lacked and GitHub created."),
      labels: s.array(s.string("Label name."), "All labels on the issue now."),
    }),
    additive: true,
    compensation: {
      tool: removeLabels,
      argument_map: {
        owner: "args.owner",
        repo: "args.repo",
        issue_number: "args.issue_number",
        labels: "result.added",
      },
    },
    requires: [
      {
        tool: createIssue,
        match: { owner: "args.owner", repo: "args.repo", issue_number: "result.issue_number" },
      },
    ],
    checkpoint: { result: ["issue_number", "added", "created_labels"], guard: "labels" },
    residue: [{ id: "label-created", text: "Labels that the repository lacked stay in it." }],
  })
  .landed(async ({ client, args, checkpoint }) => {
    const { added, created_labels } = checkpoint?.result ?? {};
    if (!added || !created_labels) return "unknown";
    const labels = await readLabels(client, args);
    const there = added.filter(among(labels));
    if (there.length === 0) return { landed: false };
    if (there.length < added.length) return "unknown";
    return { landed: true, result: { issue_number: args.issue_number, added, created_labels, labels } };
  })
  .run(async ({ client, args, checkpoint }) => {
    checkNames(args.labels);
    const { issue_number } = args;
    const before = await readLabels(client, args);
    const added = missing(args.labels, before);
    if (added.length === 0) return { issue_number, added, created_labels: [], labels: before };
    const created_labels = await unknownTo(client, args, added);
    await checkpoint({ result: { issue_number, added, created_labels } });
    const labels = await putOn(client, args, added);
    const isOn = among(labels);
    return { issue_number, added: added.filter(isOn), created_labels: created_labels.filter(isOn), labels };
  });
