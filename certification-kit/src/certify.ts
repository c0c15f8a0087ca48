import { benchFor, type Failure, recordings } from "./bench.ts";
import type { Check, CheckName, GuaranteeName } from "./check.ts";
import { checks, guarantees } from "./checks.ts";
import { judge } from "./contract.ts";
import { type Facts, factsOf, type ToolFacts } from "./facts.ts";
import { httpWire } from "./http-wire.ts";
import { limiter } from "./limit.ts";
import type { Certification, CheckResult, Status, Witness } from "./result.ts";
import type { Kit, Subject } from "./subject.ts";
import { tcpProxy } from "./tcp-proxy.ts";

export interface CertifyOptions {
  /** Only these checks, and those they build on; all when left out. */
  readonly only?: readonly (CheckName | GuaranteeName)[];
  /** Only these tools; all when left out. */
  readonly tools?: readonly string[];
  /** How many cases run at a time; 8 when left out. */
  readonly parallel?: number;
  /** The folder of the vendors' descriptions; without it the contract is not looked at. */
  readonly contracts?: string | undefined;
  /** What the vendor's own software has shown of the sandbox. */
  readonly witness?: Witness | undefined;
  /** Told about every check that ended. */
  readonly progress?: (result: CheckResult) => void;
}

const kit: Kit = {
  http: httpWire,
  tcpProxy,
  openApi: async (...given) => (await import("./contract/openapi.ts")).openApi(...given),
  graphql: async (...given) => (await import("./contract/graphql.ts")).graphql(...given),
};

/** A connector and a wire just to look at. */
async function look(subject: Subject): Promise<Facts> {
  const backend = await subject.backend(kit);
  try {
    const { credential = "" } = subject;
    const connector = subject.connector({ address: backend.address, credential, timeoutMs: 20_000, backend });
    const facts = factsOf(subject, connector, subject.wire?.(backend, kit));
    await connector.close();
    return facts;
  } finally {
    await backend.close();
  }
}

/** The checks wanted and those without which they say nothing, in an order in which each comes after its own. */
function ordered(only: CertifyOptions["only"]): Check[] {
  const all = [...checks, ...guarantees];
  const order: Check[] = [];
  const add = (check: Check) => {
    if (order.includes(check)) return;
    for (const name of check.after) for (const first of all.filter((each) => each.name === name)) add(first);
    order.push(check);
  };
  for (const check of all) if (!only || only.includes(check.name)) add(check);
  return order;
}

export const aboutContract = {
  name: "contract",
  title: "Contract",
  sentence: "Every request and every answer fits the vendor's published description.",
} as const;

/** The contract guarantee: the whole run is watched, and judged at its end. */
async function contractOf(subject: Subject, facts: Facts, { contracts, tools: wanted }: CertifyOptions) {
  const without = (status: "not_run" | "not_applicable", reason: string) => ({
    watched: subject,
    result: (): CheckResult => ({ ...aboutContract, tools: {}, cases: 0, status, reason }),
  });
  if (!facts.network) return without("not_applicable", "nothing is sent anywhere");
  if (!facts.observe)
    return without("not_applicable", "the backend is the real thing, and answers for itself");
  if (!subject.contract) return without("not_run", "the subject names no description of the vendor's API");
  if (!contracts)
    return without("not_run", "REVERSI_CONTRACTS names no folder with the vendor's description");
  const contract = await subject.contract(contracts, kit);
  const book = judge(contract, { whole: wanted === undefined });
  const watched: Subject = {
    ...subject,
    wire(backend, tools) {
      const wire = subject.wire?.(backend, tools);
      if (!wire) throw new Error("there is no wire any more");
      wire.observe?.(book.take);
      return wire;
    },
  };
  const result = (): CheckResult => {
    const { exchanges, wrong } = book.verdict();
    const seen = { ...aboutContract, tools: {}, cases: exchanges };
    if (wrong.length === 0) return { ...seen, status: "pass", by: contract.title };
    const failures = wrong.map((message) => ({ tool: facts.connector, case: "contract", message }));
    return { ...seen, status: "fail", failures };
  };
  return { watched, result };
}

const aboutWitness = {
  name: "witness",
  title: "Witness",
  sentence: "Software that others wrote drives the sandbox and gets the same objects.",
  tools: {},
} as const;

function witnessed({ network, observe }: Facts, witness: Witness | undefined): CheckResult {
  const nobody = { ...aboutWitness, cases: 0 };
  if (!network || !observe) {
    return { ...nobody, status: "not_applicable", reason: "the backend is the real thing, and no stand-in" };
  }
  if (!witness) return { ...nobody, status: "not_run", reason: "no record of one was handed to this run" };
  return { ...aboutWitness, cases: witness.operations, status: "pass", by: witness.by.join(", ") };
}

/**
 * Runs the certification: every check that applies, on fresh backends, with a real engine. Never throws for what is
 * wrong with the connector; that is in the result.
 * @throws what `subject` throws when neither a backend nor a connector comes about
 */
export async function certify(subject: Subject, options: CertifyOptions = {}): Promise<Certification> {
  const { only, tools: wanted, parallel = 8, progress } = options;
  const began = performance.now();
  const facts = await look(subject);
  const contract = only ? undefined : await contractOf(subject, facts, options);
  const shared = { subject: contract?.watched ?? subject, kit, facts, limit: limiter(parallel) };
  const recorded = recordings(shared);
  const risks = new Set<string>();
  const results = new Map<string, CheckResult>();

  /** Why a check can say nothing about a tool. */
  const blockedBy = ({ after }: Check, { name }: ToolFacts): string | undefined => {
    const failed = after.find((first) => {
      const status = results.get(first)?.tools[name];
      return status === "fail" || status === "not_run";
    });
    return failed && results.get(failed)?.title;
  };

  async function run(check: Check): Promise<CheckResult> {
    const { name, title, sentence } = check;
    const applies = check.applies(facts);
    const head = { name, title, sentence };
    if (applies !== true) {
      return { ...head, tools: {}, cases: 0, status: "not_applicable", reason: applies.reason };
    }
    const concerned = facts.tools.filter(
      (tool) => (wanted?.includes(tool.name) ?? true) && (check.concerns?.(tool, facts) ?? true),
    );
    const failures: Failure[] = [];
    const tools: Record<string, Status> = {};
    const blocked = new Set<string>();
    let cases = 0;
    const verify = async (tool: ToolFacts) => {
      const by = blockedBy(check, tool);
      if (by !== undefined) {
        tools[tool.name] = "not_run";
        blocked.add(`${by} failed for ${tool.name}`);
        return;
      }
      const own: Failure[] = [];
      const bench = benchFor(tool, shared, recorded, own, risks, () => cases++);
      await check.verify(bench).catch((error: unknown) => bench.fail("as a whole", String(error)));
      tools[tool.name] = own.length > 0 ? "fail" : "pass";
      failures.push(...own);
    };
    await Promise.all(concerned.map(verify));
    const verdict = { ...head, tools, cases };
    if (failures.length > 0) return { ...verdict, status: "fail", failures };
    if (blocked.size > 0) return { ...verdict, status: "not_run", reason: [...blocked].join("; ") };
    return { ...verdict, status: "pass" };
  }

  for (const check of ordered(only)) {
    const result = await run(check);
    results.set(check.name, result);
    progress?.(result);
  }
  const inOrder = (list: readonly Check[]) => list.flatMap(({ name }) => results.get(name) ?? []);
  return {
    connector: facts.connector,
    version: facts.version,
    checks: inOrder(checks),
    guarantees: [
      ...inOrder(guarantees),
      ...(contract ? [contract.result(), witnessed(facts, options.witness)] : []),
    ],
    risks: [...risks].sort(),
    milliseconds: Math.round(performance.now() - began),
  };
}
