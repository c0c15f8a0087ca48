// The report beside the truth: what it says of every step, and what the backends hold.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every name, mode and content below a folder, the backups left out. */
export function tree(folder, prefix = "") {
  const seen = {};
  for (const name of readdirSync(folder).sort()) {
    if (prefix === "" && name === ".reversi-backups") continue;
    const path = join(folder, name);
    const stats = lstatSync(path);
    const mode = (stats.mode & 0o7777).toString(8);
    seen[prefix + name] = stats.isDirectory() ? `folder ${mode}` : `${mode} ${readFileSync(path, "utf8")}`;
    if (stats.isDirectory()) Object.assign(seen, tree(path, `${prefix}${name}/`));
  }
  return seen;
}

const final = new Set(["compensated", "not_applied", "rejected"]);
/** No evidence tells whether these happened when the answer is lost: GitHub takes no key, and they leave no mark. */
const reportOnly = new Set(["github.create_issue", "github.add_comment"]);

/** The steps of a journal that write, with what is known of their results. */
export function stepsOf(records) {
  const steps = new Map();
  for (const record of records) {
    const { type, step } = record;
    if (type === "intent") steps.set(step, { ...record, result: undefined });
    else if (type === "checkpoint" || type === "applied") {
      const known = steps.get(step);
      known.result = { ...known.result, ...record.result };
    }
  }
  return steps;
}

const overlap = (a, b) => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
const pathsOf = ({ path, from, to }) => [path, from, to].filter((one) => one !== undefined);

/** Paths that people touched, and those that moves carried them to and from. */
function reachOf(people, steps) {
  const reach = [...people.paths];
  for (let size = -1; size !== reach.length; ) {
    size = reach.length;
    for (const { tool, args } of steps.values()) {
      if (tool !== "fs.move_file" || !pathsOf(args).some((path) => reach.some((one) => overlap(one, path))))
        continue;
      for (const path of pathsOf(args)) if (!reach.includes(path)) reach.push(path);
    }
  }
  return reach;
}

/** Everything that is wrong at the end of a history; nothing when the list is empty. */
export function violations({ records, report, outcomes, cutShort, backend, people, before, root }) {
  const { site, changes } = backend;
  const steps = stepsOf(records);
  const problems = [];
  const wrong = (text) => problems.push(text);
  const groups = new Map();
  for (const [group, members] of Object.entries(report.groups))
    for (const member of members) {
      if (groups.has(member.step)) wrong(`step ${member.step} is in two groups of the report`);
      groups.set(member.step, { group, ...member });
    }
  for (const step of steps.keys()) if (!groups.has(step)) wrong(`step ${step} is missing in the report`);

  const agents = (what) => changes.filter((change) => change.what === what && change.by === "agent");
  const issueAt = (number) => site.issues.find((issue) => issue.number === number);
  const lastOn = (number, label) =>
    changes.findLast((c) => c.what === "label on" && c.issue === number && c.label === label);
  const labelsOf = ({ args, result }) => result?.added ?? args.labels;

  // What stands of a step, by the backend alone.
  const stands = {
    "github.create_issue": ({ args: { title } }) =>
      agents("issue").some(({ issue, title: made }) => {
        const { state, deleted } = issueAt(issue);
        return made === title && state === "open" && !deleted;
      }),
    "github.add_comment": ({ args: { body } }) =>
      agents("comment").some(
        (made) =>
          made.body === body &&
          site.comments.some(({ id, issue }) => id === made.comment && !issueAt(issue).deleted),
      ),
    "github.add_labels": (step) => {
      const { issue_number: number } = step.args;
      const issue = issueAt(number);
      const isOn = (label) => issue.labels.includes(label) && lastOn(number, label)?.by === "agent";
      return issue !== undefined && !issue.deleted && labelsOf(step).some(isOn);
    },
    "github.create_branch": ({ args: { branch } }) => {
      const ref = `heads/${branch}`;
      const set = changes.findLast((change) => change.what === "ref" && change.ref === ref);
      return site.refs.has(ref) && set?.by === "agent";
    },
    "fs.write_file": ({ args: { content } }) => Object.values(after).some((text) => text.includes(content)),
    "fs.make_dir": ({ result, args }) =>
      (result?.created ?? []).some((path) => after[path] !== undefined && !(path in before)) &&
      !reach.some((path) => overlap(path, args.path)) &&
      [...steps.values()].every(
        (other) => final.has(groups.get(other.step)?.group) || !other.tool.startsWith("fs."),
      ),
    "fs.delete_file": () => false,
    "fs.move_file": () => false,
  };
  const after = tree(root);
  const reach = reachOf(people, steps);
  const touched = {
    "github.create_issue": () => false,
    "github.add_labels": () => false,
    "github.add_comment": ({ result }) => people.touchedComments.has(result?.comment_id),
    "github.create_branch": ({ args }) => people.touchedBranches.has(`heads/${args.branch}`),
  };
  const isTouched = (step) =>
    touched[step.tool]?.(step) ??
    [...pathsOf(step.args), ...(step.result?.created ?? [])].some((path) =>
      reach.some((one) => overlap(one, path)),
    );

  // Whether a step may be open at the end, when nothing fails any more. `blind`: gateway or upstream were killed before
  // the step's checkpoint, so it never wrote; without evidence the engine leaves that to a person.
  const blind = [];
  const mayBeOpen = new Map();
  const excused = (number) => {
    if (mayBeOpen.has(number)) return mayBeOpen.get(number);
    mayBeOpen.set(number, false);
    const step = steps.get(number);
    const { group, waits_for = [] } = groups.get(number) ?? {};
    const answered = outcomes.get(step.reason)?.outcome;
    const open = {
      uncertain: () => {
        if (answered === "ok" || answered === "refused") return false;
        if (reportOnly.has(step.tool)) return true;
        const never =
          cutShort &&
          step.result === undefined &&
          !(step.tool === "fs.write_file" && stands[step.tool](step));
        if (never) blind.push(number);
        return never;
      },
      conflict: () => isTouched(step),
      compensation_failed: () => isTouched(step),
      deferred: () => waits_for.some((other) => !final.has(groups.get(other)?.group) && excused(other)),
    };
    mayBeOpen.set(number, open[group]?.() ?? false);
    return mayBeOpen.get(number);
  };

  for (const [number, step] of steps) {
    const { group, message } = groups.get(number) ?? {};
    const what = `step ${number} (${step.tool} ${JSON.stringify(step.args)})`;
    if (final.has(group)) {
      if (stands[step.tool](step)) wrong(`${what} is reported ${group} and stands`);
    } else if (group === "conflict" && !excused(number))
      wrong(`${what} is in conflict, and nobody edited it: ${message}`);
    else if (!excused(number)) wrong(`${what} is stuck as ${group}: ${message}`);
    if (group === "not_applied" && outcomes.get(step.reason)?.outcome === "ok")
      wrong(`${what} was answered as done and is reported as never applied`);
  }
  const open = [...groups.values()].filter(({ group }) => !final.has(group));
  if (report.status === "complete" && open.length > 0) wrong("complete, with open steps");
  if (report.status !== "complete" && open.length === 0) wrong("incomplete, with nothing open");

  // Nothing happened that no step tells of, nothing twice, nothing to others' work.
  const count = (list, test) => list.filter(test).length;
  const named = (tool, test) => count([...steps.values()], (step) => step.tool === tool && test(step.args));
  for (const { title } of agents("issue")) {
    const made = count(agents("issue"), (other) => other.title === title);
    if (made > named("github.create_issue", (args) => args.title === title))
      wrong(`"${title}" was opened ${made} times`);
  }
  for (const { body } of agents("comment")) {
    const made = count(agents("comment"), (other) => other.body === body);
    if (made > named("github.add_comment", (args) => args.body === body))
      wrong(`"${body}" was written ${made} times`);
  }
  // Of these nothing may happen before the checkpoint, so only steps that came to it count.
  const reached = [...steps.values()].filter(({ result }) => result !== undefined);
  for (const { ref } of agents("ref")) {
    const made = count(agents("ref"), (other) => other.ref === ref);
    const asked = count(
      reached,
      ({ tool, args }) => tool === "github.create_branch" && `heads/${args.branch}` === ref,
    );
    if (made > asked) wrong(`${ref} was made ${made} times, for ${asked} steps`);
  }
  for (const { issue, label } of agents("label on")) {
    const on = count(agents("label on"), (other) => other.issue === issue && other.label === label);
    const title = agents("issue").find((made) => made.issue === issue)?.title;
    const asked = count([...steps.values()], ({ tool, args, result }) =>
      tool === "github.add_labels"
        ? args.issue_number === issue && result?.added.includes(label)
        : title !== undefined && args.title === title && args.labels?.includes(label),
    );
    if (on > asked) wrong(`label ${label} was put on issue ${issue} ${on} times, for ${asked} steps`);
  }
  const history = [];
  const last = (test) => history.findLast(test);
  for (const change of changes) {
    const { what, by, issue, label, ref, comment, body, author } = change;
    if (by === "agent") {
      if (what === "open") wrong(`issue ${issue} was reopened`);
      if (what === "closed" && last((c) => c.what === "issue" && c.issue === issue)?.by !== "agent")
        wrong(`issue ${issue} of somebody else was closed`);
      if (what === "closed" && count(history, (c) => c.what === "closed" && c.issue === issue) > 0)
        wrong(`issue ${issue} was closed twice`);
      if (
        what === "label off" &&
        last((c) => c.what === "label on" && c.issue === issue && c.label === label)?.by !== "agent"
      )
        wrong(`label ${label} of somebody else was taken off issue ${issue}`);
      if (what === "ref gone" && last((c) => c.what === "ref" && c.ref === ref)?.by !== "agent")
        wrong(`${ref} was deleted while it was where a person had put it`);
      const made = last((c) => c.what === "comment" && c.comment === comment);
      if (what === "comment gone" && (author !== "reversi-agent" || made?.body !== body))
        wrong(`comment ${comment} was deleted with a person's text "${body}"`);
    }
    history.push(change);
  }
  problems.push(...people.lost());

  // Folders.
  const openFiles = open.some(({ tool }) => tool.startsWith("fs."));
  if (people.paths.length === 0 && !openFiles && JSON.stringify(after) !== JSON.stringify(before))
    wrong(`the folder is not as it was: ${JSON.stringify(after)}`);
  for (const [text, time] of people.texts) {
    if (Object.values(after).some((content) => content.includes(text))) continue;
    const hidden = [...steps.values()].some(
      (step) =>
        ["fs.write_file", "fs.delete_file"].includes(step.tool) &&
        Date.parse(step.at) >= time &&
        !final.has(groups.get(step.step)?.group),
    );
    if (!hidden) wrong(`the text "${text}" that a person saved is in no file`);
  }
  return { problems: [...new Set(problems)], blind: blind.length };
}
