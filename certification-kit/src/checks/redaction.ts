import { inspect } from "node:util";
import { InvalidArgumentsError } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import { nameOf, type Spot, spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import type { EchoForm, Fault } from "../fault.ts";
import { type Ended, ended, told } from "../outcome.ts";
import { captureOutput } from "../output.ts";
import { formsOf, searcherFor, textsOf } from "../secrets.ts";
import type { World } from "../world.ts";

type Find = (text: string) => string | undefined;

/** Every place in which what a call said can be read later. */
function leakIn(find: Find, outcome: Ended): string | undefined {
  const text =
    "error" in outcome
      ? textsOf(outcome.error)
      : `${JSON.stringify(outcome.value)}\n${inspect(outcome.value, { depth: 12 })}`;
  if (find(text) === undefined) return undefined;
  return "error" in outcome ? "the error carries the credential" : "the result carries the credential";
}

const echoForms: readonly EchoForm[] = ["json", "html", "text", "header"];
const pads = [0, 185, 590];

/** The backend repeats what it was sent: whole requests, at every request, in every dress. */
function* echoes(find: Find, spots: readonly Spot[], statuses: readonly string[]): Generator<Case> {
  for (const spot of spots) {
    for (const status of statuses) {
      for (const as of echoForms) yield echoed(find, { kind: "echo", status, as }, spot);
    }
  }
}

const echoed = (
  find: Find,
  fault: Fault,
  spot: Spot,
  name = nameOf(fault, spot),
  credential?: string,
): Case => ({
  name,
  ...(credential !== undefined && { credential }),
  async verify({ wire, call }) {
    wire.inject(fault, spot.skip);
    return leakIn(find, await ended(call()));
  },
});

/** The backend repeats the credential in each encoding, at the start of a text and where texts are cut off. */
function* encodings(find: Find, secret: string, spot: Spot, status: string): Generator<Case> {
  for (const [index, { name, text }] of formsOf(secret).entries()) {
    for (const pad of index === 0 ? pads : [0]) {
      const echo: Fault = { kind: "echo", status, as: "json", text: `${"-".repeat(pad)} ${text}` };
      yield echoed(find, echo, spot, `an echo of the credential ${name}, ${pad} characters in`);
    }
    const success: Fault = { kind: "garbage", body: JSON.stringify({ message: text, id: text }) };
    yield echoed(find, success, spot, `a success that holds the credential ${name}`);
  }
}

/** A credential whose encoded forms all differ; connectors may refuse it for its looks, but not repeat it. */
const awkward = "kP+7/w==\"q\\&<e>%41'zT9#certification";
function* awkwardly(bench: Bench, status: string): Generator<Case> {
  const find = searcherFor(awkward);
  for (const { name, text } of formsOf(awkward)) {
    const fault: Fault = { kind: "echo", status, as: "json", text };
    yield {
      name: `an echo of an awkward credential ${name}`,
      async verify() {
        const tried = await ended(
          bench.world({ credential: awkward }, async ({ wire, call }) => {
            wire.inject(fault, 0);
            return ended(call());
          }),
        );
        return leakIn(find, "value" in tried ? (tried.value as Ended) : tried);
      },
    };
  }
}

/** An argument that holds the credential is refused before anything is sent, and not repeated. */
const handedIn = (find: Find, secret: string): Case => ({
  name: "an argument that holds the credential",
  async verify({ connector, tool, args, sent }) {
    for (const [name, value] of Object.entries(args)) {
      if (typeof value !== "string") continue;
      const outcome = await ended(Promise.resolve(connector.tools[tool.name]?.({ ...args, [name]: secret })));
      if (!("error" in outcome) || !InvalidArgumentsError.is(outcome.error)) {
        return `it must be refused (${name}), and ${told(outcome)}`;
      }
      const [first] = sent();
      if (first) return `${first.line} was sent with it (${name})`;
      const leak = leakIn(find, outcome);
      if (leak !== undefined) return leak;
    }
    return undefined;
  },
});

/** What the connector sends where proxies and logs read along. */
const inTheOpen = (find: Find): Case => ({
  name: "a good call, and what it sends in the open",
  async verify({ connector, call, sent }) {
    const leak = leakIn(find, await ended(call()));
    const open = sent().find((request) => find(request.open) !== undefined);
    if (open) return `${open.line.split("?")[0]} carries the credential in its address or its body`;
    const shown = find(inspect(connector, { depth: 6, showHidden: true }));
    return leak ?? (shown && "whoever prints the connector prints the credential");
  },
});

/** A whole run with a backend that echoes: forward, undone, undone once more. The journal is for many eyes. */
const journaled = (find: Find, status: string): Case => ({
  name: "the journal of a run in which everything is echoed",
  async verify(world: World) {
    const { wire, tool, args } = world;
    const run = await world.run();
    await run.call(tool.name, args);
    wire.inject({ kind: "echo", status, as: "json" }, 0, Number.POSITIVE_INFINITY);
    const reports = [await run.rollback()];
    await wire.clear();
    wire.inject({ kind: "echo", status, as: "html" }, 1, Number.POSITIVE_INFINITY);
    reports.push(await run.rollback());
    if (find(run.journal()) !== undefined) return "the journal holds the credential";
    return find(JSON.stringify(reports)) === undefined ? undefined : "the report holds the credential";
  },
});

export const redaction: Check = {
  name: "redaction",
  title: "Redaction",
  sentence:
    "In whatever form a backend repeats the credential, it is in no error, result, journal or output, nor in the address or body of any request.",
  applies: ({ network, credential }) =>
    (network && credential) || because("the connector holds no credential"),
  after: ["forward_success"],
  async verify(bench) {
    const { subject, tool, facts, all, clean, fail } = bench;
    const secret = subject.credential ?? "";
    const find = searcherFor(secret);
    const { sent } = await clean();
    const spots = spotsOf(sent);
    const [status = "400"] = facts.statuses.refuse;
    const [first] = spots;
    const output = captureOutput();
    try {
      await all([
        inTheOpen(find),
        handedIn(find, secret),
        ...echoes(find, spots, [status, ...facts.statuses.serverError.slice(0, 1)]),
        ...(first ? encodings(find, secret, first, status) : []),
        ...(first ? awkwardly(bench, status) : []),
        ...(tool.undo ? [journaled(find, status)] : []),
      ]);
    } finally {
      output.end();
    }
    const printed = find(output.text()) ?? searcherFor(awkward)(output.text());
    if (printed !== undefined) fail("what was printed", "the credential was printed to a terminal or a log");
  },
};
