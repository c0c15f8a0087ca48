import {
  type CompensationCall,
  type Compensator,
  ConnectorError,
  EffectUncertainError,
  type ErrorBody,
  type LostContext,
} from "@reversi-connector/core";
import { errorFrom } from "@reversi-connector/engine";
import { type Child, startChild } from "./child.ts";
import { wordsOf } from "./words.ts";

export interface CommandOptions {
  /** Any program that reads one JSON call from stdin and exits 0 when the undo succeeded, as a shell would write it. */
  readonly command: string;
  readonly environment: NodeJS.ProcessEnv;
  /** For everything the program says that ends up in a message. */
  redact(text: string): string;
  /** What the program says on stderr, and which of its forms is used. */
  say(text: string): void;
  /** How long it may take to say that it serves many calls; 5,000 ms when left out. */
  readonly helloMs?: number | undefined;
  /** How long one call may take; 120,000 ms when left out. */
  readonly callMs?: number | undefined;
}

/** A compensator that is a command. */
export interface CommandCompensator extends Compensator {
  /**
   * Starts it, and finds out whether it serves many calls or one a process. Nothing is sent to it.
   * @throws UsageError when it cannot be started
   */
  start(): Promise<"stream" | "plain">;
  close(): Promise<void>;
}

type Op = "compensate" | "holds" | "landed";
type Answer =
  | { readonly ok: true; readonly result?: unknown }
  | { readonly ok: false; readonly error: ErrorBody };

const codes: readonly unknown[] = ["INVALID_ARGUMENTS", "FAILED", "CONFLICT", "EFFECT_UNCERTAIN"];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** A line of the protocol, or undefined for anything else. */
function answerIn(line: string): Answer | undefined {
  const answer = parsed(line);
  if (!isObject(answer)) return undefined;
  if (answer["ok"] === true) return { ok: true, result: answer["result"] };
  const { error } = answer;
  const known = isObject(error) && codes.includes(error["code"]) && typeof error["message"] === "string";
  return answer["ok"] === false && known ? { ok: false, error: error as unknown as ErrorBody } : undefined;
}

function operationsIn(line: string): readonly unknown[] | undefined {
  const hello = parsed(line);
  if (!isObject(hello) || hello["protocol"] !== "reversi/1" || !Array.isArray(hello["ops"])) return undefined;
  return hello["ops"];
}

const shown = (line: string): string => (line.length > 200 ? `${line.slice(0, 200).toWellFormed()}…` : line);

function within<Value>(ms: number, work: Promise<Value>): Promise<Value | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A process that serves one call a line. */
interface Served {
  readonly child: Child;
  readonly operations: readonly unknown[];
  /** It printed something that nobody asked for: its answers could be taken for those of other calls. */
  astray(): boolean;
  /** The next line it prints, or how it ended. */
  next(): Promise<string | { readonly ended: string }>;
}

const howEnded = (code: number | null, signal: string | null) =>
  signal ? `was ended by ${signal}` : `exited with ${code}`;

async function serve(child: Child, helloMs: number): Promise<Served | string> {
  const lines: string[] = [];
  let wake = () => {};
  child.onLine((line) => {
    if (line === "" && lines.length === 0 && !served) return;
    lines.push(line);
    wake();
  });
  let over: { readonly ended: string } | undefined;
  let served = false;
  void child.ended.then(({ code, signal }) => {
    over = { ended: howEnded(code, signal) };
    wake();
  });
  const next = async (): Promise<string | { readonly ended: string }> => {
    for (;;) {
      const line = lines.shift();
      if (line !== undefined) return line;
      if (over) return over;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const hello = await within(helloMs, next());
  if (hello === "late") return `did not say so within ${helloMs / 1000} s`;
  if (typeof hello !== "string") return hello.ended;
  const operations = operationsIn(hello);
  if (!operations) return `began with ${shown(hello)}`;
  served = true;
  return { child, operations, next, astray: () => lines.length > 0 };
}

/** The call as it travels. */
function lineOf(
  op: Op,
  call: CompensationCall & { readonly run?: string; readonly step?: number },
  context?: LostContext,
): string {
  const { tool, args, idempotency_key, run, step, on_conflict } = call;
  const key = context?.idempotencyKey ?? idempotency_key;
  const whole = {
    ...(op !== "compensate" && { op }),
    tool,
    args,
    ...(key !== undefined && { idempotency_key: key }),
    ...(run !== undefined && { run }),
    ...(step !== undefined && { step }),
    ...(on_conflict === "overwrite" && { on_conflict }),
    ...(context && {
      since: context.since.toISOString(),
      ...(context.checkpoint && { checkpoint: context.checkpoint }),
    }),
  };
  return `${JSON.stringify(whole)}\n`;
}

/** Undoes through a command. What it leaves unsaid is never taken for success, and what it left open never for a failure. */
export function commandCompensator({
  command,
  environment,
  redact,
  say,
  helloMs = 5000,
  callMs = 120_000,
}: CommandOptions): CommandCompensator {
  const words = wordsOf(command);
  let form: Promise<"stream" | "plain"> | undefined;
  let served: Served | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const { REVERSI_COMPENSATOR: _, ...plainEnvironment } = environment;
  const failureIn = (body: ErrorBody) => errorFrom({ ...body, message: redact(body.message) });
  async function launch(): Promise<Served | string> {
    const child = await startChild(words, { ...environment, REVERSI_COMPENSATOR: "stream/1" }, say);
    const found = await serve(child, helloMs);
    // A foreign program that reads to the end of its input must not act on nothing: it never sees that end.
    if (typeof found === "string") child.kill();
    return found;
  }
  async function begin(): Promise<"stream" | "plain"> {
    const found = await launch();
    if (typeof found !== "string") {
      served = found;
      return "stream";
    }
    say(`${words[0]} serves one undo a process, and cannot be asked what is there: it ${redact(found)}`);
    return "plain";
  }
  const start = () => {
    form ??= begin();
    return form;
  };

  const drop = () => {
    served?.child.kill();
    served = undefined;
  };

  /** @throws EffectUncertainError when the call was sent and no answer of the protocol came */
  async function overStream(op: Op, line: string, tool: string): Promise<unknown> {
    if (served?.astray()) drop();
    if (!served) {
      const again = await launch();
      if (typeof again === "string")
        throw new ConnectorError(`${tool}: the compensator could not be started again: it ${again}`);
      served = again;
    }
    if (!served.operations.includes(op)) {
      if (op === "compensate")
        throw new ConnectorError(`${tool}: the compensator says that it cannot compensate`);
      return "unknown";
    }
    served.child.write(line);
    const said = await within(callMs, served.next());
    const answer = typeof said === "string" && said !== "late" ? answerIn(said) : undefined;
    if (!answer) {
      drop();
      const what =
        said === "late"
          ? `gave no answer within ${callMs / 1000} s`
          : typeof said === "string"
            ? `answered ${shown(said)}`
            : said.ended;
      throw new EffectUncertainError(`${tool}: the compensator ${redact(what)}`);
    }
    if (!answer.ok) throw failureIn(answer.error);
    return answer.result ?? null;
  }

  async function onePerProcess(line: string, tool: string): Promise<unknown> {
    const errors: string[] = [];
    const child = await startChild(words, plainEnvironment, (text) => {
      if (errors.push(text) > 5) errors.shift();
      say(text);
    });
    let printed: string | undefined;
    child.onLine((text) => {
      if (text !== "") printed = text;
    });
    child.write(line);
    child.finish();
    const end = await within(callMs, child.ended);
    if (end === "late") {
      child.kill();
      throw new EffectUncertainError(`${tool}: the compensator did not end within ${callMs / 1000} s`);
    }
    const answer = printed === undefined ? undefined : answerIn(printed);
    if (answer?.ok === false) throw failureIn(answer.error);
    if (end.code === 0) return answer?.result ?? null;
    const said = errors.length === 0 ? "" : redact(`; it said: ${errors.join(" / ")}`);
    const what = `${tool}: the compensator ${howEnded(end.code, end.signal)}${said}`;
    throw end.signal ? new EffectUncertainError(what) : new ConnectorError(what);
  }

  /** One after the other: answers come in the order of the calls, and carry no name. */
  function send(op: Op, line: string, tool: string): Promise<unknown> {
    const run = async () => {
      if ((await start()) === "stream") return overStream(op, line, tool);
      return op === "compensate" ? onePerProcess(line, tool) : "unknown";
    };
    const sent = last.then(run, run);
    last = sent.catch(() => {});
    return sent;
  }

  const compensate = (call: CompensationCall) => send("compensate", lineOf("compensate", call), call.tool);
  return Object.assign(compensate, {
    async holds(call: CompensationCall) {
      const seen = await send("holds", lineOf("holds", call), call.tool);
      return typeof seen === "boolean" ? seen : ("unknown" as const);
    },
    async landed(call: Pick<CompensationCall, "tool" | "args">, context: LostContext) {
      const seen = await send("landed", lineOf("landed", call, context), call.tool);
      if (!isObject(seen)) return "unknown" as const;
      if (seen["landed"] === true && "result" in seen)
        return { landed: true as const, result: seen["result"] };
      return seen["landed"] === false ? { landed: false as const } : ("unknown" as const);
    },
    start,
    async close() {
      await last;
      if (!served) return;
      served.child.finish();
      if ((await within(5000, served.child.ended)) === "late") drop();
    },
  });
}
