import type { RollbackReport } from "@reversi-connector/engine";
import type { Facts, ToolFacts } from "./facts.ts";
import type { SentRequest } from "./fault.ts";
import type { limiter } from "./limit.ts";
import { same, timeless } from "./states.ts";
import type { Backend, Kit, Plan, Subject } from "./subject.ts";
import { inWorld, type World, type WorldOptions } from "./world.ts";

/** A good call without any fault, taken down once: what the faulted ones are compared with. */
export interface Clean {
  readonly args: object;
  readonly result: unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly sent: readonly SentRequest[];
  /** A second fresh backend ended in the same state: states can be compared between cases. */
  readonly repeatable: boolean;
  /** … and the call had the same result. */
  readonly sameResult: boolean;
}
/** The same with a rollback by a real engine. */
export interface CleanUndo {
  readonly report: RollbackReport;
  /** What the rollback sent: the undo's requests, then those that looked whether it worked. */
  readonly sent: readonly SentRequest[];
}

export interface Case extends WorldOptions {
  readonly name: string;
  readonly plan?: Plan<Backend>;
  /** @returns what is wrong; @throws what is wrong as well */
  verify(world: World): Promise<string | undefined>;
}

/** What went wrong in one case. */
export interface Failure {
  readonly tool: string;
  readonly case: string;
  readonly message: string;
}

/** What a check has for one tool. */
export interface Bench {
  readonly subject: Subject;
  readonly facts: Facts;
  readonly tool: ToolFacts;
  /** The first plan of the tool: the one that is tried with every fault. */
  readonly plan: Plan<Backend>;
  /** One more world besides that of a case. */
  world<Value>(options: WorldOptions, body: (world: World) => Promise<Value>): Promise<Value>;
  /** Runs cases, several at a time, and takes down what fails. */
  all(cases: Iterable<Case>): Promise<void>;
  clean(): Promise<Clean>;
  /** Only for tools with a compensation that works. */
  cleanUndo(): Promise<CleanUndo>;
  /** Says that a promise is weaker than one may think; the report shows it. */
  risk(text: string): void;
  fail(name: string, message: string): void;
  /** Takes down one case that needs no world. */
  check(name: string, work: () => string | undefined): void;
}

/** The longest that one case may take, in milliseconds; only a connector that hangs meets it. */
const caseMs = 45_000;

export interface BenchOptions {
  readonly subject: Subject;
  readonly kit: Kit;
  readonly facts: Facts;
  readonly limit: ReturnType<typeof limiter>;
}

const messageOf = (error: unknown) =>
  String((error as { message?: unknown } | null | undefined)?.message ?? error);

async function within<Value>(work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${caseMs / 1000} s`)), caseMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Clean runs are the same for all checks of a tool. */
export function recordings({ subject, kit, limit }: Omit<BenchOptions, "facts">) {
  const calls = new Map<string, Promise<Clean>>();
  const undos = new Map<string, Promise<CleanUndo>>();
  const once = <Value>(map: Map<string, Promise<Value>>, key: string, work: () => Promise<Value>) => {
    const known = map.get(key) ?? limit(() => within(work()));
    map.set(key, known);
    return known;
  };
  return {
    clean: (tool: ToolFacts, plan: Plan<Backend>) =>
      once(calls, tool.name, async () => {
        const call = () =>
          inWorld(subject, kit, tool, plan, {}, async (world) => {
            const { args, before } = world;
            const result = await world.call();
            const sent = world.sent();
            return { args, before, result, sent, after: await world.state() };
          });
        const [first, second] = [await call(), await call()];
        return {
          ...first,
          repeatable: same(first.after, second.after),
          sameResult: same(timeless(first.result), timeless(second.result)),
        };
      }),
    cleanUndo: (tool: ToolFacts, plan: Plan<Backend>) =>
      once(undos, tool.name, () =>
        inWorld(subject, kit, tool, plan, {}, async (world) => {
          const run = await world.run();
          await run.call(tool.name, world.args);
          if (subject.wire) world.wire.forget();
          const report = await run.rollback();
          return { report, sent: world.sent() };
        }),
      ),
  };
}
export type Recordings = ReturnType<typeof recordings>;

/** The bench of one check for one tool; what fails ends in `failures`. */
export function benchFor(
  tool: ToolFacts,
  { subject, kit, facts, limit }: BenchOptions,
  recorded: Recordings,
  failures: Failure[],
  risks: Set<string>,
  counted: () => void,
): Bench {
  const plan = tool.plans[0] ?? { args: {} };
  const hide = (text: string) =>
    subject.credential ? text.replaceAll(subject.credential, "[the credential]") : text;
  const fail = (name: string, message: string) =>
    void failures.push({ tool: tool.name, case: name, message: hide(message) });
  const one = async ({ name, plan: own = plan, verify, ...options }: Case): Promise<void> => {
    counted();
    try {
      const wrong = await within(inWorld(subject, kit, tool, own, options, verify));
      if (typeof wrong === "string") fail(name, wrong);
    } catch (error) {
      fail(name, messageOf(error));
    }
  };
  return {
    subject,
    facts,
    tool,
    plan,
    fail,
    risk: (text) => void risks.add(text),
    world: (options, body) => inWorld(subject, kit, tool, plan, options, body),
    all: async (cases) => {
      await Promise.all([...cases].map((each) => limit(() => one(each))));
    },
    clean: () => recorded.clean(tool, plan),
    cleanUndo: () => recorded.cleanUndo(tool, plan),
    check(name, work) {
      counted();
      try {
        const wrong = work();
        if (wrong !== undefined) fail(name, wrong);
      } catch (error) {
        fail(name, messageOf(error));
      }
    },
  };
}
