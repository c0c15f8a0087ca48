import { randomBytes } from "node:crypto";
import type { Manifest } from "@reversi-connector/core";
import { type ApprovalRequest, fileJournal, type Registry, Run } from "@reversi-connector/engine";
import { fenceOf } from "../shared/fence.ts";
import { redactorFor, stderrLog } from "../shared/log.ts";
import { loadManifests } from "../shared/manifests.ts";
import { approvalQueue } from "../shared/queue.ts";
import { didYouMean, exitCode, messageOf, UsageError } from "../shared/usage.ts";
import { approve } from "./approval.ts";
import { callSignal, callsThrough } from "./calls.ts";
import { catalogThrough } from "./catalog.ts";
import { type GatewayOptions, gatewayOptions } from "./options.ts";
import { pipes } from "./pipes.ts";
import { createProxy, type McpProxy } from "./proxy.ts";
import { startUpstream } from "./upstream.ts";

/** How long reads may go on after the client left, in milliseconds. */
const farewellMs = 5000;

/** The permissions that patterns such as `github:issues:*` stand for. @throws UsageError for one that fits none */
function scopeFor(
  patterns: readonly string[] | undefined,
  manifests: readonly Manifest[],
): string[] | undefined {
  if (!patterns) return undefined;
  const known = [...new Set(manifests.map(({ permission }) => permission))];
  return patterns.flatMap((pattern) => {
    const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    const fitting = known.filter((permission) => new RegExp(`^${parts.join(".*")}$`).test(permission));
    if (fitting.length > 0) return fitting;
    throw new UsageError(
      `--scope: no manifest has a permission ${pattern}.${didYouMean(pattern, known)} There are: ${known.sort().join(", ")}`,
    );
  });
}

/** A name that sorts by day and can be typed. */
const newRun = (): string => `${new Date().toISOString().slice(0, 10)}-${randomBytes(5).toString("hex")}`;

async function openRun(
  { data, callTimeoutMs }: GatewayOptions,
  run: string,
  registry: Registry,
  scope: readonly string[] | undefined,
  ask: (request: ApprovalRequest) => ReturnType<typeof approve>,
): Promise<Run> {
  try {
    return await Run.open({ registry, journal: fileJournal(data), run, scope, approve: ask, callTimeoutMs });
  } catch (error) {
    throw new UsageError(
      `--data ${data}: no run can be journaled there: ${messageOf(error)}`,
      exitCode.failed,
    );
  }
}

const dataFlag = (data: string) => (data === "./reversi-data" ? "" : ` --data ${data}`);

const signalled = (onSecond: () => void) =>
  new Promise<"signal">((resolve) => {
    let count = 0;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        resolve("signal");
        if (++count > 1) onSecond();
      });
    }
  });

const atMost = (ms: number, work: Promise<unknown>) => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
};

/** The proxy, until its client leaves, a signal comes, or the upstream ends. Resolves with the exit code. */
export async function gateway(argv: readonly string[]): Promise<number> {
  const options = gatewayOptions(argv, process.env);
  const { data, callTimeoutMs } = options;
  const redact = redactorFor(process.env);
  const log = stderrLog("reversi-gateway", redact, process.env);
  const { registry, manifests } = await loadManifests(options.manifests);
  const scope = scopeFor(options.scope, manifests);
  const { toClient, toUpstream, upstreamDrained, attach, read, flush, broken } = pipes();
  const run = newRun();

  const proxy: McpProxy = createProxy({
    toClient,
    toUpstream,
    calls: () => calls,
    instructions: `What is done here is recorded as run ${run}. An operator can undo it: reversi rollback ${run}`,
    log,
    onTools: () => catalog.renew(),
  });
  const catalog = catalogThrough(proxy.askUpstream, manifests, log);
  const upstream = await startUpstream({
    command: options.command,
    args: options.args,
    // Approval is the gateway's to ask for; a server of ours behind it need not ask again.
    environment: { REVERSI_APPROVAL: "allow", ...process.env },
    redact,
    log,
    onLine: proxy.fromUpstream,
    onLong: proxy.longFromUpstream,
    onDrain: upstreamDrained,
  });
  attach(upstream);

  const questions = new Set<AbortController>();
  const queue = approvalQueue(data);
  const ask = async (request: ApprovalRequest) => {
    const leave = new AbortController();
    questions.add(leave);
    const signal = AbortSignal.any([leave.signal, callSignal.getStore() ?? leave.signal]);
    const { approval: mode, approvalWaitMs: waitMs } = options;
    const answer = approve(request, { mode, queue, waitMs, log, client: () => proxy.client }, signal);
    return answer.finally(() => questions.delete(leave));
  };
  const opened = await openRun(options, run, registry, scope, ask).catch(async (error) => {
    await upstream.close();
    throw error;
  });
  const calls = callsThrough({
    run: opened,
    catalog: catalog.get,
    toClient,
    toUpstream,
    redact: redact.text,
    timeoutMs: callTimeoutMs,
  });
  upstream.resume();
  log.say(`run ${run}, journaled in ${data}; undo it with: reversi rollback ${run}${dataFlag(data)}`);

  let letGo: Promise<void> | undefined;
  /** Ends what can be ended, waits for the rest, and gives the journal away. Once. */
  const release = (patience: number): Promise<void> => {
    letGo ??= (async () => {
      for (const question of questions) question.abort();
      await atMost(patience, calls.idle());
      calls.giveUpReads("the gateway is ending");
      await calls.idle();
      await opened.close().catch((error) => log.say(messageOf(error)));
    })();
    return letGo;
  };
  const unwatch = await fenceOf(data, run).watch(() => {
    log.say("a rollback of this run was asked for: it takes no further calls");
    calls.shut(
      `Run ${run} is being rolled back: it takes no new calls. Begin another session. Nothing was sent.`,
    );
    void release(0).then(() => log.say("the run was given to the rollback"));
  });

  const signal = signalled(() => {
    calls.loseAll("the gateway was told twice to end");
  });
  let leaving = false;
  const ended = upstream.ended.then((how) => {
    if (!leaving) log.say(how);
    calls.loseAll(how);
    proxy.loseAll(how);
    return "upstream" as const;
  });
  const how = await Promise.race([read(proxy.fromClient, proxy.longFromClient), broken, signal, ended]);
  leaving = true;
  log.info(`ending: ${how}`);
  process.stdin.pause();
  unwatch();
  // Nobody reads the answers of reads any more; a write in flight must still come to its end.
  await release(how === "end" ? farewellMs : 0);
  if (how === "end") await atMost(farewellMs, proxy.idle());
  await Promise.all([upstream.close(), flush()]);
  return how === "upstream" ? exitCode.failed : exitCode.ok;
}
