// One history: an agent's session with faults, kills and edits by others, rolled back until nothing changes any more.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { observedBackend } from "./backend.js";
import { tree, violations } from "./check.js";
import { people as peopleOf } from "./people.js";
import { drawPlan } from "./plan.js";
import { rollback, session } from "./processes.js";

const where = { owner: "acme", repo: "site" };
const mostCleanRollbacks = 6;

/** A drawn call as a tool's name and arguments; `made` are the run's own issues. */
function callOf({ kind, issue, ...rest }, made) {
  const issue_number = made.length === 0 || issue === 0 ? 1 : made[issue % made.length];
  switch (kind) {
    case "issue":
      return [
        "github.create_issue",
        { ...where, title: rest.title, ...(rest.labels && { labels: rest.labels }) },
      ];
    case "comment":
      return ["github.add_comment", { ...where, issue_number, body: rest.body }];
    case "label":
      return ["github.add_labels", { ...where, issue_number, labels: rest.labels }];
    case "branch":
      return ["github.create_branch", { ...where, branch: rest.branch }];
    case "write":
      return ["fs.write_file", rest];
    case "delete":
      return ["fs.delete_file", rest];
    case "move":
      return ["fs.move_file", rest];
    default:
      return ["fs.make_dir", rest];
  }
}

/** Kills when its moment comes; `settle` takes the arm down, and kills now where `anyway`. */
function armKill(backend, { victim, when, ms, nth }, kill) {
  let fired = false;
  const act = () => {
    fired = kill(victim) || fired;
  };
  const timer = when === "delay" ? setTimeout(act, ms) : undefined;
  const disarm = when === "delay" ? () => clearTimeout(timer) : backend.at(when, nth, act);
  return {
    settle(anyway) {
      disarm();
      if (anyway && !fired) act();
      return fired;
    },
  };
}

const recordsIn = (data, run) =>
  readFileSync(join(data, "runs", `${run}.jsonl`), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const shapeOf = ({ status, groups }) =>
  JSON.stringify([
    status,
    Object.entries(groups).map(([group, steps]) => [group, steps.map(({ step }) => step).sort()]),
  ]);

async function live(plan, { lab, place, log, counts }) {
  const root = join(place, "work");
  const data = join(place, "data");
  mkdirSync(join(root, "d"), { recursive: true });
  for (const name of ["a.txt", "b.txt", "d/c.txt"])
    writeFileSync(join(root, name), `${name} as a person wrote it\n`);
  const before = tree(root);
  const backend = await observedBackend();
  const people = peopleOf(backend, root);
  const outcomes = new Map();
  const problems = [];
  let cutShort = false;
  const at = { lab, root, data, address: backend.address };
  const agent = await session(at);
  const { run } = agent;
  log(`run ${run}`);
  const edit = (what) => {
    people.edit(what);
    log(`person: ${JSON.stringify(what)}`);
  };

  /** One `reversi rollback`, with what the plan has for it. */
  async function undo({ kill } = {}) {
    counts.rollbacks++;
    const under = rollback({ ...at, run });
    const armed = kill && armKill(backend, kill, under.kill);
    const ended = await under.ended;
    if (armed?.settle(false)) counts.kills++;
    const { code, signal, report, said } = ended;
    log(`rollback: ${signal ?? code} ${report ? `${report.status} ${JSON.stringify(report.counts)}` : said}`);
    if (!report && signal === null) problems.push(`reversi rollback ended with ${code}: ${said}`);
    return report;
  }

  try {
    const made = [];
    for (const [index, { calls, fault, edit: meanwhile }] of plan.rounds.entries()) {
      if (agent.over()) break;
      if (fault) {
        backend.arm(fault);
        counts.faults++;
      }
      const mortal = plan.kill?.round === index ? armKill(backend, plan.kill, agent.kill) : undefined;
      await Promise.all(
        calls.map(async (drawn) => {
          const [tool, args] = callOf(drawn, made);
          const reason = `call ${outcomes.size + 1}`;
          outcomes.set(reason, { outcome: "lost" });
          counts.calls++;
          const outcome = await agent.call(tool, args, reason);
          outcomes.set(reason, outcome);
          if (outcome.outcome === "ok" && tool === "github.create_issue")
            made.push(outcome.result.issue_number);
          log(`${reason}: ${tool} ${JSON.stringify(args)} → ${outcome.outcome} ${outcome.text ?? ""}`);
        }),
      );
      await backend.clear();
      if (mortal?.settle(true)) {
        counts.kills++;
        cutShort = true;
        log(`killed: ${plan.kill.victim}`);
        await agent.gone();
      }
      if (meanwhile) edit(meanwhile);
    }
    if (!plan.open) await agent.close();
    for (const one of plan.edits) edit(one);

    for (const planned of plan.rollbacks) {
      for (const fault of planned.faults) {
        backend.arm(fault);
        counts.faults++;
      }
      await undo(planned);
      if (planned.edit) {
        // What was sent has to arrive before a person looks: no guard could tell a later arrival.
        await backend.settle();
        edit(planned.edit);
      }
    }
    await backend.clear();
    let report;
    for (let round = 0; round < mostCleanRollbacks; round++) {
      const next = await undo();
      if (!next) break;
      const quiet = next.status === "complete" || (report && shapeOf(report) === shapeOf(next));
      report = next;
      if (quiet) break;
      if (round === mostCleanRollbacks - 1)
        problems.push(`not quiet after ${mostCleanRollbacks} rollbacks without faults`);
    }
    if (plan.open && !agent.over()) {
      const late = await agent.call(
        "fs.write_file",
        { path: "late.txt", content: "late\n" },
        "call after the rollback",
      );
      if (late.outcome === "ok") problems.push("a call was let through after the rollback began");
    }
    await agent.close();
    await backend.settle();
    const records = recordsIn(data, run);
    if (backend.errors.length > 0) problems.push(`the sandbox failed: ${backend.errors.join("; ")}`);
    if (report) {
      const ended = { records, report, outcomes, cutShort, backend, people, before, root };
      const found = violations(ended);
      problems.push(...found.problems);
      counts.blind += found.blind;
    }
    counts.edits += people.done.length;
    return { problems, report, records, changes: backend.changes, people: people.done };
  } finally {
    agent.destroy();
    await backend.close();
  }
}

/** Plays one seed. What it needs to be understood is in the answer, and kept on disk where something is wrong. */
export async function playHistory(seed, { lab, counts, keep }) {
  const plan = drawPlan(seed);
  const place = mkdtempSync(join(lab, `history-${seed}-`));
  const lines = [];
  const began = Date.now();
  const log = (text) => lines.push(`${String(Date.now() - began).padStart(6)} ms  ${text}`);
  try {
    const ended = await live(plan, { lab, place, log, counts });
    const bad = ended.problems.length > 0;
    if (!bad && !keep) rmSync(place, { recursive: true, force: true });
    return { ...ended, plan, lines, place: existsSync(place) ? place : undefined, ms: Date.now() - began };
  } catch (error) {
    return {
      problems: [`the history itself failed: ${error.stack}`],
      plan,
      lines,
      place,
      ms: Date.now() - began,
    };
  }
}
