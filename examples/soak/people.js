// What other people do meanwhile, and what of it must be there at the end.
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { addComment, commit, putLabels, setState } from "@reversi-connector/github/sandbox";

const agent = "reversi-agent";
const isFile = (path) => existsSync(path) && statSync(path).isFile();
const isFolder = (path) => existsSync(path) && statSync(path).isDirectory();
const folders = ["d", "x", "x/y", "d/z", "e", "q", "e/f/g"];

/** People at work on one history's backend and folder. */
export function people(backend, root) {
  const { world, site, changes } = backend;
  /** Comment → its text as a person left it, null when deleted; branch → commit, null; issue → title. */
  const comments = new Map();
  const branches = new Map();
  const titles = new Map();
  const added = [];
  /** Texts that people saved, with the time. */
  const texts = new Map();
  const paths = [];
  const done = [];

  const pick = (list, at) => (list.length > 0 ? list[at % list.length] : undefined);
  const ofRun = () => {
    const made = new Set(
      changes.flatMap(({ what, by, issue }) => (what === "issue" && by === "agent" ? [issue] : [])),
    );
    return site.issues.filter(({ number, deleted }) => made.has(number) && !deleted);
  };
  const anyIssue = (at) =>
    pick(
      site.issues.filter(({ deleted, head }) => !deleted && !head),
      at,
    );
  const agentComment = (at) =>
    pick(
      site.comments.filter(({ author }) => author === agent),
      at,
    );
  const agentBranch = (at) =>
    pick(
      [...site.refs.keys()].filter((ref) => !["heads/main", "heads/docs"].includes(ref)),
      at,
    );
  /** What a person replaces is no longer anybody's wish. */
  const replaced = (path) => {
    if (!isFile(join(root, path))) return;
    const before = readFileSync(join(root, path), "utf8");
    for (const text of texts.keys()) if (before.includes(text)) texts.delete(text);
  };
  const keep = (text) => texts.set(text, Date.now());

  const acts = {
    "own comment"({ at, text }) {
      const issue = anyIssue(at);
      const made = addComment(world, site, { issue: issue.number, body: text, author: "ada" });
      added.push({ text, there: () => site.comments.includes(made) });
    },
    "own label"({ at, text }) {
      const issue = anyIssue(at);
      putLabels(world, site, issue, [text]);
      added.push({ text, there: () => issue.labels.includes(text) });
    },
    retitle({ at, text }) {
      const issue = pick(ofRun(), at);
      if (!issue) return false;
      issue.title = text;
      titles.set(issue.number, text);
    },
    "edit comment"({ at, text }) {
      const comment = agentComment(at);
      if (!comment) return false;
      comment.body = text;
      comments.set(comment.id, text);
    },
    "delete comment"({ at }) {
      const comment = agentComment(at);
      if (!comment) return false;
      site.comments.splice(site.comments.indexOf(comment), 1);
      comments.set(comment.id, null);
    },
    "take label off"({ at }) {
      const issue = pick(
        ofRun().filter(({ labels }) => labels.length > 0),
        at,
      );
      if (!issue) return false;
      issue.labels = issue.labels.slice(1);
    },
    "close issue"({ at }) {
      const issue = pick(ofRun(), at);
      if (!issue) return false;
      setState(issue, "closed", "completed");
    },
    "delete issue"({ at }) {
      const issue = pick(ofRun(), at);
      if (!issue) return false;
      issue.deleted = true;
    },
    "move branch"({ at }) {
      const ref = agentBranch(at);
      if (!ref) return false;
      const sha = commit(world, site);
      site.refs.set(ref, sha);
      branches.set(ref, sha);
    },
    "delete branch"({ at }) {
      const ref = agentBranch(at);
      if (!ref) return false;
      site.refs.delete(ref);
      branches.set(ref, null);
    },
    "save file"({ path, text }) {
      if (!isFolder(join(root, path, ".."))) return false;
      if (isFolder(join(root, path))) return false;
      replaced(path);
      writeFileSync(join(root, "saved.tmp"), `${text}\n`);
      renameSync(join(root, "saved.tmp"), join(root, path));
      keep(text);
      paths.push(path);
    },
    "edit in place"({ path, text }) {
      if (!isFile(join(root, path))) return false;
      appendFileSync(join(root, path), `${text}\n`);
      keep(text);
      paths.push(path);
    },
    "delete file"({ path }) {
      if (!isFile(join(root, path))) return false;
      replaced(path);
      rmSync(join(root, path));
      paths.push(path);
    },
    "file in folder"({ at, text }) {
      const folder = pick(
        folders.filter((name) => isFolder(join(root, name))),
        at,
      );
      if (!folder) return false;
      const path = `${folder}/${text.replace(" ", "-")}.txt`;
      writeFileSync(join(root, path), `${text}\n`);
      keep(text);
      paths.push(path);
    },
  };

  return {
    done,
    paths,
    texts,
    touchedComments: comments,
    touchedBranches: branches,
    edit(edit) {
      if (backend.asPerson(() => acts[edit.kind](edit)) === false) return;
      done.push({ ...edit, time: new Date().toISOString() });
    },
    /** What of their work on GitHub is not as they left it. */
    lost() {
      const problems = added
        .filter(({ there }) => !there())
        .map(({ text }) => `"${text}" of a person is gone`);
      for (const [number, title] of titles)
        if (site.issues.find((issue) => issue.number === number)?.title !== title)
          problems.push(`issue ${number} does not have a person's title "${title}"`);
      for (const [id, body] of comments)
        if ((site.comments.find((comment) => comment.id === id)?.body ?? null) !== body)
          problems.push(`comment ${id} is not as a person left it (${body})`);
      for (const [ref, sha] of branches) {
        const again = changes.findLast((change) => change.ref === ref && change.what === "ref");
        if (again?.by === "agent" && sha === null) continue;
        if ((site.refs.get(ref) ?? null) !== sha)
          problems.push(`${ref} is not where a person left it (${sha})`);
      }
      return problems;
    },
  };
}
