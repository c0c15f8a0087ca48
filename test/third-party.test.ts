import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Manifest } from "@reversi-connector/core";
import { filled, toolTable } from "../scripts/tables.js";
import { root } from "./connectors.ts";

const template = join(root, "examples/third-party-connector");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "third-party-")));
const json = (file: string) => JSON.parse(readFileSync(file, "utf8"));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
interface Run {
  readonly cwd: string;
  readonly env?: Record<string, string>;
}
const run = (command: string, args: readonly string[], { cwd, env }: Run): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(
      command,
      args,
      { cwd, ...(env && { env }), maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      },
    );
    child.stdin?.end();
  });

interface Published {
  readonly facts: { readonly name: string; readonly version: string };
  /** Absent for a package of another platform. */
  readonly tarball?: string;
}

/** What `npm publish` would put up of our packages. */
async function packed(paths: readonly string[]): Promise<Published[]> {
  const args = ["pack", "--json", "--pack-destination", folder, ...paths.map((path) => `./${path}`)];
  const { stdout } = await run("npm", args, { cwd: root });
  const made = Object.values<{ name: string; filename: string }>(JSON.parse(stdout));
  return paths.map((path) => {
    const facts = json(join(root, path, "package.json"));
    const { filename = "" } = made.find(({ name }) => name === facts.name) ?? {};
    return { facts, tarball: join(folder, filename) };
  });
}

/** Other people's packages that `wanted` brings, as they are installed in this repository. */
async function installed(wanted: readonly string[]): Promise<Published[]> {
  const found = new Map<string, Published>();
  const add = async (name: string, version: string, from: string): Promise<void> => {
    const near = join(from, "node_modules", name);
    const at = existsSync(near) ? near : join(root, "node_modules", name);
    const here = existsSync(join(at, "package.json"));
    const facts = here ? json(join(at, "package.json")) : { name, version, os: ["none"] };
    const key = `${name}@${facts.version}`;
    if (found.has(key)) return;
    const tarball = join(folder, `${key.replaceAll("/", "-")}.tar`);
    found.set(key, { facts, ...(here && { tarball }) });
    if (here) await run("tar", ["-C", dirname(at), "-cf", tarball, basename(at)], { cwd: folder });
    const needs = { ...facts.dependencies, ...facts.optionalDependencies };
    for (const [needed, range] of Object.entries<string>(needs)) await add(needed, range, at);
  };
  for (const name of wanted) await add(name, "", root);
  return [...found.values()];
}

/** A registry on 127.0.0.1 that knows these packages and no others. */
async function registry(packages: readonly Published[]): Promise<{ server: Server; address: string }> {
  const server = createServer(({ url = "" }, response) => {
    const wanted = decodeURIComponent(url.slice(1));
    const file = packages.find(({ tarball }) => tarball && wanted === `-/${basename(tarball)}`)?.tarball;
    if (file) return void response.end(readFileSync(file));
    const known = packages.filter(({ facts }) => facts.name === wanted);
    if (known.length === 0) return void response.writeHead(404).end("{}");
    const { port } = server.address() as AddressInfo;
    const versions = known.map(({ facts, tarball }) => {
      const at = `http://127.0.0.1:${port}/-/${encodeURIComponent(basename(tarball ?? "none"))}`;
      return [facts.version, { ...facts, dist: { tarball: at } }] as const;
    });
    const latest = versions[0]?.[0];
    response.end(
      JSON.stringify({
        name: wanted,
        "dist-tags": { latest },
        versions: Object.fromEntries(versions),
      }),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** A stranger's environment: nothing of ours, and that registry. */
const environment = (address: string): Record<string, string> => ({
  ...(Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_OPTIONS$|REVERSI_|.*_TOKEN$)|proxy/i.test(name),
    ),
  ) as Record<string, string>),
  npm_config_registry: address,
  npm_config_cache: join(folder, "cache"),
  npm_config_userconfig: join(folder, "no-npmrc"),
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
});

interface Block {
  readonly language: string;
  readonly text: string;
}
/** The fenced blocks of each numbered step of the guide. */
function steps(): Block[][] {
  const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").split("\n## A connector in an hour\n")[1];
  return (guide ?? "").split(/^### \d+\. .*$/m).map((step) =>
    [...step.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
      language,
      text,
    })),
  );
}

let server: Server;
let env: Record<string, string>;
/** Where the reader's shell is. */
let cwd: string;
/** Where the connector is that came of the guide. */
let connector: string;

beforeAll(async () => {
  const ours = ["core", "http", "engine", "certification-kit", "cli"];
  const declared = ours.flatMap((path) =>
    Object.keys(json(join(root, path, "package.json")).dependencies ?? {}),
  );
  const theirs = declared.filter((name) => !name.startsWith("@reversi-connector/"));
  const [own, others] = await Promise.all([
    packed(ours),
    installed([...theirs, "typescript", "@types/node"]),
  ]);
  const started = await registry([...own, ...others]);
  server = started.server;
  env = environment(started.address);
  cwd = join(folder, "clone");
  cpSync(template, join(cwd, "examples/third-party-connector"), {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist)$/.test(path),
  });
}, 60_000);
afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Types a block into the reader's shell. */
async function type({ text }: Block, more: Record<string, string> = {}): Promise<Ended> {
  const here = join(folder, "cwd");
  const ended = await run("bash", ["-euo", "pipefail", "-c", `${text}pwd > ${here}`], {
    cwd,
    env: { ...env, ...more },
  });
  if (ended.code === 0) cwd = readFileSync(here, "utf8").trim();
  return ended;
}

/** Types the blocks of a step, which must succeed. */
async function follow(blocks: readonly Block[] | undefined): Promise<string> {
  let printed = "";
  for (const block of blocks ?? []) {
    const { code, stdout, stderr } = await type(block);
    expect({ block: block.text, code, printed: code === 0 ? "" : stdout + stderr }).toEqual({
      block: block.text,
      code: 0,
      printed: "",
    });
    printed += stdout;
  }
  return printed;
}

/** Check → what its row in the table says. */
const rows = (table: string): Record<string, string> =>
  Object.fromEntries(
    [...table.matchAll(/^ {2}(\w[\w ]*?) {2,}(pass|FAIL|not run|n\/a)\b/gm)].map(([, check, status]) => [
      check,
      status,
    ]),
  );

const tools = ["create", "delete", "get", "rename", "restore", "update"].map(
  (verb) => `trove.${verb}_bookmark`,
);
const first = "00000000000000000000000000000001";

test("the template imports published entries of core, http and the kit, and nothing else of ours", () => {
  const facts = json(join(template, "package.json"));
  expect(facts.name).toMatch(/^reversi-connector-/);
  expect(Object.keys(facts.dependencies)).toEqual(["@reversi-connector/core", "@reversi-connector/http"]);
  const files = ["src", "test"].flatMap((inner) =>
    readdirSync(join(template, inner)).map((name) => join(template, inner, name)),
  );
  const imported = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"([^".][^"]*)"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  const entries = ["core", "http", "certification-kit"].flatMap((path) => {
    const { name, exports } = json(join(root, path, "package.json"));
    return Object.keys(exports).map((entry) => name + entry.slice(1));
  });
  const own = Object.keys(facts.exports).map((entry) => facts.name + entry.slice(1));
  const illegal = imported.filter(
    (name) => !name.startsWith("node:") && ![...entries, ...own].includes(name),
  );
  expect(imported.length).toBeGreaterThan(10);
  expect(illegal).toEqual([]);
});

test("who follows the guide to the letter has a certified connector with a tool of his own", async () => {
  const [, copy, rename, install, , write, certify, serve, manifests, packing] = steps();
  await follow(copy);
  expect(basename(cwd)).toBe("reversi-connector-trove");
  await follow(rename);
  expect(json(join(cwd, "package.json"))).toMatchObject({ name: "reversi-connector-trove" });
  expect(await follow(install)).toMatch(/\bfail 0$/m);

  await follow(write);
  connector = cwd;
  const { Contract, Witness, ...checked } = rows(await follow(certify));
  expect([Contract, Witness]).toEqual(["not run", "not run"]);
  expect(Object.keys(checked)).toHaveLength(16);
  expect(new Set(Object.values(checked))).toEqual(new Set(["pass"]));

  await served(serve ?? []);

  await follow(manifests);
  const yaml = readFileSync(join(cwd, "manifests/trove.yaml"), "utf8");
  expect(tools.filter((name) => yaml.includes(`tool: ${name}\n`))).toEqual(tools);

  const asInstalled = await follow(packing);
  const printedThere: Manifest[] = JSON.parse(asInstalled.slice(asInstalled.indexOf("\n[\n")));
  expect(printedThere.map(({ tool }) => tool)).toEqual(tools);
  const readme = readFileSync(join(connector, "README.md"), "utf8");
  const ofTemplate = printedThere.filter(({ tool }) => tool !== "trove.rename_bookmark");
  expect(readme).toBe(filled(readme, "tools", toolTable(ofTemplate)));
  expect(Object.keys(json(join(cwd, "node_modules/.package-lock.json")).packages).sort()).toEqual([
    "node_modules/@reversi-connector/core",
    "node_modules/@reversi-connector/http",
    "node_modules/reversi-connector-trove",
    "node_modules/reversi-connectors",
    "node_modules/undici",
  ]);
}, 120_000);

/** An agent calls the new tool on the sandbox; the guide's undo puts the title back. */
async function served([serve, args, undo]: readonly Block[]): Promise<void> {
  const transport = new StdioClientTransport({
    ...{ command: "bash", args: ["-c", serve?.text ?? ""], cwd, env, stderr: "pipe" },
  });
  let said = "";
  const address = new Promise<string>((resolve) => {
    transport.stderr?.on("data", (chunk) => {
      said += chunk;
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (found) resolve(found);
    });
  });
  const client = new Client({ name: "third-party-test", version: "1.0.0" });
  await client.connect(transport);
  const call = async (name: string, given: string) =>
    (await client.callTool({ name, arguments: JSON.parse(given) })).structuredContent;
  const seen = () => call("trove.get_bookmark", JSON.stringify({ id: first }));
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(tools);
    const before = await seen();
    await call("trove.rename_bookmark", args?.text ?? "");
    expect(await seen()).toMatchObject({ bookmark: { title: "Renamed" } });
    const answers = [];
    for (const _ of ["once", "twice"]) {
      const { code, stdout } = await type(undo ?? { language: "sh", text: "" }, { SANDBOX: await address });
      answers.push({ code, ...JSON.parse(stdout) });
    }
    const answer = (already: boolean) => ({ code: 0, ok: true, result: { id: first, already } });
    expect(answers).toEqual([answer(false), answer(true)]);
    expect(await seen()).toEqual(before);
  } finally {
    await client.close();
  }
}

test("a copy without one guard fails its certification, which names the check and the tools", async () => {
  const copy = join(folder, "unguarded");
  cpSync(connector, copy, { recursive: true, filter: (path) => !/\/(node_modules|dist|\.git)$/.test(path) });
  symlinkSync(join(connector, "node_modules"), join(copy, "node_modules"));
  const file = join(copy, "src/bookmark.ts");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace('"if-match": found.etag', '"if-match": "*"'));
  expect(readFileSync(file, "utf8")).not.toBe(text);
  expect((await run("npm", ["run", "build"], { cwd: copy, env })).code).toBe(0);

  const args = ["reversi-connectors", "certify", ".", "--check", "guard", "--check", "residue"];
  const { code, stdout } = await run("npx", args, { cwd: copy, env });
  expect(code).toBe(1);
  expect(rows(stdout)).toMatchObject({ Guard: "FAIL", Residue: "pass" });
  for (const verb of ["create", "rename", "update"]) {
    expect(stdout).toContain(`trove.${verb}_bookmark: an edit by somebody else, right before the undo's`);
  }
}, 60_000);
