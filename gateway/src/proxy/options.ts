import { parseArgs } from "node:util";
import { didYouMean, UsageError, wholeNumber } from "../shared/usage.ts";
import { type ApprovalMode, approvalModes } from "./approval.ts";

export interface GatewayOptions {
  readonly manifests: string;
  readonly data: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Permissions, or patterns of them with `*`; undefined for all. */
  readonly scope: readonly string[] | undefined;
  readonly approval: ApprovalMode;
  readonly approvalWaitMs: number;
  readonly callTimeoutMs: number;
}

export const help = `reversi-gateway --manifests DIR --upstream-cmd CMD [--upstream-arg ARG…]

An MCP server on stdin and stdout that passes on another one's tools, and journals what an agent does with them.

  --manifests DIR         What the tools do and how they are undone: .yaml, .yml and .json files, or one such file
  --upstream-cmd CMD      The MCP server to start
  --upstream-arg ARG      An argument of it; once for each
  --data DIR              Where runs are journaled (REVERSI_DATA, else ./reversi-data)
  --scope PERM…           Permissions the agent may use, as in github:issues:*; everything when left out
  --approval MODE         For tools that need a person's word: elicit (ask through the client), queue (wait for
                          \`reversi approve\`), refuse. Default: elicit
  --approval-wait SECONDS How long a call waits in the queue before it is refused with the way to go on (45)
  --call-timeout SECONDS  How long a call that writes may take before its outcome counts as unknown (60)
  --help, --version

Variables:
  REVERSI_DATA            as --data
  REVERSI_LOG_LEVEL       info: say more on stderr

Example:
  reversi-gateway --manifests ./manifests --data ./reversi-data \\
    --upstream-cmd reversi-connectors --upstream-arg serve --upstream-arg github
`;

const flags = {
  manifests: { type: "string" },
  "upstream-cmd": { type: "string" },
  "upstream-arg": { type: "string", multiple: true },
  data: { type: "string" },
  scope: { type: "string", multiple: true },
  approval: { type: "string" },
  "approval-wait": { type: "string" },
  "call-timeout": { type: "string" },
} as const;

/** `--upstream-arg --root` → `--upstream-arg=--root`: an option parser would take the second for a flag of ours. */
function joined(argv: readonly string[]): string[] {
  const args: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const next = argv[at + 1];
    const pair = argv[at] === "--upstream-arg" && next !== undefined;
    args.push(pair ? `--upstream-arg=${next}` : (argv[at] ?? ""));
    if (pair) at++;
  }
  return args;
}

type Token = { readonly kind: string; readonly name?: string; readonly value?: unknown };

/** Words behind `--scope` belong to it, up to the next flag. */
function scopeOf(tokens: readonly Token[]): string[] | undefined {
  let scope: string[] | undefined;
  let inScope = false;
  for (const { kind, name, value } of tokens) {
    if (kind === "option") inScope = name === "scope";
    else if (!inScope)
      throw new UsageError(
        `"${value}" belongs to no flag; the server's arguments are given with --upstream-arg`,
      );
    if (inScope) scope = [...(scope ?? []), ...String(value).split(",")];
  }
  return scope?.map((word) => word.trim()).filter((word) => word !== "");
}

/** @throws UsageError naming the flag */
export function gatewayOptions(argv: readonly string[], environment: NodeJS.ProcessEnv): GatewayOptions {
  let parsed: ReturnType<typeof read>;
  const read = () =>
    parseArgs({ args: joined(argv), options: flags, allowPositionals: true, strict: true, tokens: true });
  try {
    parsed = read();
  } catch (error) {
    const message = (error as { message: string }).message.split(". To specify")[0] ?? "";
    const word = /^Unknown option '--?([^']*)'/.exec(message)?.[1];
    throw new UsageError(
      word === undefined ? message : `there is no flag --${word}.${didYouMean(word, Object.keys(flags))}`,
    );
  }
  const { values, tokens } = parsed;
  const needed = (flag: "manifests" | "upstream-cmd"): string => {
    const value = values[flag];
    if (value === undefined || value === "")
      throw new UsageError(`--${flag} is needed; see reversi-gateway --help`);
    return value;
  };
  const approval = (values.approval ?? "elicit") as ApprovalMode;
  if (!approvalModes.includes(approval))
    throw new UsageError(`--approval must be one of ${approvalModes.join(", ")}`);
  const seconds = (flag: "approval-wait" | "call-timeout", fallback: number) =>
    wholeNumber(`--${flag}`, values[flag], fallback, 86_400) * 1000;
  return {
    manifests: needed("manifests"),
    command: needed("upstream-cmd"),
    args: values["upstream-arg"] ?? [],
    data: dataFolder(values.data, environment),
    scope: scopeOf(tokens as readonly Token[]),
    approval,
    approvalWaitMs: seconds("approval-wait", 45),
    callTimeoutMs: Math.max(seconds("call-timeout", 60), 1000),
  };
}

/** `--data`, else REVERSI_DATA, else `./reversi-data`. */
export const dataFolder = (flag: string | undefined, environment: NodeJS.ProcessEnv): string =>
  flag || environment["REVERSI_DATA"]?.trim() || "./reversi-data";
