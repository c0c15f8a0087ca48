import { type Issue, type Project, putLabels, setState } from "./world.ts";

/** A few of GitLab's actions: what each changes, and what GitLab says then. */
const known: Readonly<
  Record<string, (project: Project, issue: Issue, text: string) => readonly [changes: object, said: string]>
> = {
  close(_, issue) {
    setState(issue, "closed");
    return [{ state_event: "close" }, "Closed this issue."];
  },
  reopen(_, issue) {
    setState(issue, "opened");
    return [{ state_event: "reopen" }, "Reopened this issue."];
  },
  label(project, issue, text) {
    const names = text.split(/\s+/).map((name) => name.replace(/^~/, ""));
    putLabels(project, issue, names);
    return [{ add_label_ids: names.map((name) => project.labels.indexOf(name)) }, `Added ${text} label.`];
  },
  confidential(_, issue) {
    issue.confidential = true;
    return [{ confidential: true }, "Made this issue confidential."];
  },
  title(_, issue, text) {
    issue.title = text;
    return [{ title: text }, `Changed the title to "${text}".`];
  },
};

const code = "^```[^\\n]*\\n(?:[^\\n]*\\n)*?```$";
const command = `^/(?<name>${Object.keys(known).join("|")})(?: (?<text>[^\\n]*))?(?:\\s*\\n|$)`;

/** What is left of a text, and what its quick actions did. */
export interface Ran {
  readonly text: string;
  readonly changes: object;
  readonly summary: readonly string[];
}

/** Runs what GitLab runs, and takes it out of the text, outside of code blocks. */
export function runQuickActions(project: Project, issue: Issue, given: string): Ran {
  const changes = {};
  const summary: string[] = [];
  const text = given
    .replaceAll("\r", "")
    .replace(new RegExp(`${code}|${command}`, "gim"), (whole: string, ...rest: unknown[]) => {
      const { name, text = "" } = rest.at(-1) as { readonly name?: string; readonly text?: string };
      const run = known[name?.toLowerCase() ?? ""];
      if (!run) return whole;
      const [changed, said] = run(project, issue, text.trim());
      Object.assign(changes, changed);
      summary.push(said);
      return "";
    })
    .trimEnd();
  return { text, changes, summary };
}
