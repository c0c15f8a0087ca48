import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { root } from "./connectors.ts";

const folder = mkdtempSync(join(tmpdir(), "packed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What `npm pack` makes of each package: path of its tarball. */
function pack(packages: readonly string[]): string[] {
  return packages.map((path) => {
    const printed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
      cwd: join(root, path),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [made] = Object.values<{ filename: string }>(JSON.parse(printed));
    return join(folder, made?.filename ?? "");
  });
}

const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|GITHUB_TOKEN$)/.test(name)),
) as Record<string, string>;

test("packed, installed in an empty folder and started by npx, a connector serves, acts and undoes", async () => {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true }));
  const tarballs = pack(["core", "http", "connectors/github", "cli"]);
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-save", ...tarballs], {
    cwd: folder,
    env: environment,
    stdio: "ignore",
  });
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
  const installed = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ""));
  expect(installed.length).toBeLessThanOrEqual(12);
  expect(readdirSync(join(folder, "node_modules/@reversi-connector")).sort()).toEqual([
    "core",
    "github",
    "http",
  ]);

  let announced = "";
  const transport = new StdioClientTransport({
    command: "npx",
    args: ["--no-install", "reversi-connectors", "serve", "github", "--sandbox"],
    cwd: folder,
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
        cwd: folder,
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
