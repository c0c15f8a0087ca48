import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Subject } from "@reversi-connector/certification-kit";
import type { ConnectorDefinition, ReversiField, SandboxModule } from "@reversi-connector/core";
import { didYouMean, UsageError } from "@reversi-connector/core/program";

/** A connector package on disk, before any of its code was loaded. */
export interface Found {
  readonly packageName: string;
  readonly folder: string;
  readonly reversi: ReversiField;
  /** Found from the working directory only: whoever uses it says so on stderr. */
  readonly foreign: boolean;
}

/** Where to look: beside this program, then in the working directory. */
export interface Bases {
  readonly own: readonly string[];
  readonly working: string;
}

export type AnyDefinition = ConnectorDefinition<object>;

export const defaultBases = (): Bases => ({
  // argv[1] keeps the links through which we were started: some installers put only our own dependencies beside the real file.
  own: [dirname(fileURLToPath(import.meta.url)), ...(process.argv[1] ? [dirname(process.argv[1])] : [])],
  working: process.cwd(),
});

/** The `node_modules` folders from a folder upwards, nearest first. */
function modulesFolders(from: string): string[] {
  const folders: string[] = [];
  for (let at = resolve(from); ; at = dirname(at)) {
    const folder = basename(at) === "node_modules" ? at : join(at, "node_modules");
    if (folders.at(-1) !== folder && existsSync(folder)) folders.push(folder);
    if (dirname(at) === at) return folders;
  }
}

const ownFolders = ({ own }: Bases) => [...new Set(own.flatMap(modulesFolders))];

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
};

interface PackageJson {
  readonly name?: string;
  readonly main?: string;
  readonly exports?: unknown;
  readonly reversi?: Partial<ReversiField>;
}

const readPackageJson = (folder: string): PackageJson | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  } catch {
    return undefined;
  }
};

const isField = (field: Partial<ReversiField> | undefined): field is ReversiField =>
  typeof field?.connector === "string" && typeof field.settings === "object" && field.settings !== null;

/** The connector in a folder; undefined when there is no package. @throws UsageError when the package is no connector */
function connectorIn(folder: string, foreign: boolean): Found | undefined {
  const facts = readPackageJson(folder);
  if (!facts) return undefined;
  const packageName = facts.name ?? basename(folder);
  if (!isField(facts.reversi)) {
    throw new UsageError(
      `${packageName} (${folder}) is no connector: its package.json lacks the field "reversi" with "connector" and "settings"`,
    );
  }
  return { packageName, folder, reversi: facts.reversi, foreign };
}

/** The connector in whose own folder we are, for whoever is writing it. */
function connectorAround(working: string): Found | undefined {
  for (let at = resolve(working); ; at = dirname(at)) {
    const facts = readPackageJson(at);
    if (isField(facts?.reversi)) {
      return { packageName: facts?.name ?? basename(at), folder: at, reversi: facts.reversi, foreign: true };
    }
    if (facts || dirname(at) === at) return undefined;
  }
}

const isPath = (name: string) => /^(\.{1,2}$|\.{0,2}[/\\]|[A-Za-z]:[/\\])/.test(name);
const prefix = "reversi-connector-";

/** Folders in which the connector called `name` may be by a name that only connectors have, most official first. */
function* candidates(folders: readonly string[], name: string): Generator<string> {
  for (const folder of folders) yield join(folder, "@reversi-connector", name);
  for (const folder of folders) yield join(folder, prefix + name);
  for (const folder of folders) {
    for (const scope of namesIn(folder)) if (scope.startsWith("@")) yield join(folder, scope, prefix + name);
  }
}

/**
 * The package of a connector: by short name, by package name or by path.
 * @throws UsageError that says how to install it, or what keeps the package from being a connector
 */
export function findConnector(name: string, bases: Bases = defaultBases()): Found {
  if (isPath(name)) {
    const found = connectorIn(resolve(bases.working, name), false);
    if (found) return found;
    throw new UsageError(`${name}: there is no package in ${resolve(bases.working, name)}`);
  }
  if (!/^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/i.test(name)) {
    throw new UsageError(`"${name}" is neither a connector's name nor a package name nor a path`);
  }
  let unlike: unknown;
  for (const [folders, foreign] of [
    [ownFolders(bases), false],
    [modulesFolders(bases.working), true],
  ] as const) {
    const around = foreign ? connectorAround(bases.working) : undefined;
    if (around && [around.reversi.connector, around.packageName].includes(name)) return around;
    for (const folder of name.includes("/") ? [] : candidates(folders, name)) {
      const found = connectorIn(folder, foreign);
      if (found) return found;
    }
    for (const folder of folders) {
      try {
        const found = connectorIn(join(folder, name), foreign);
        if (found) return found;
      } catch (error) {
        unlike ??= error; // any package may have this name: go on looking
      }
    }
  }
  throw unlike ?? notInstalled(name, bases);
}

const packageOf = (name: string) => (name.includes("/") ? name : `@reversi-connector/${name}`);

function notInstalled(name: string, bases: Bases): UsageError {
  const known = installedConnectors(bases).map(({ reversi }) => reversi.connector);
  return new UsageError(
    `the connector ${name} is not installed.${didYouMean(name, known)} Install it with \`npm install ${packageOf(name)}\`, or run ` +
      `\`npx -p reversi-connectors -p ${packageOf(name)} reversi-connectors serve ${name}\`.` +
      (known.length === 0 ? "" : ` Installed: ${known.join(", ")}.`),
  );
}

/** Packages in one `node_modules` that may be connectors; with `every`, those with unusual names as well. */
function* packagesIn(folder: string, every: boolean): Generator<string> {
  for (const name of namesIn(folder)) {
    if (name.startsWith(".")) continue;
    if (name.startsWith("@")) {
      for (const inner of namesIn(join(folder, name))) {
        if (every || name === "@reversi-connector" || inner.startsWith(prefix))
          yield join(folder, name, inner);
      }
    } else if (every || name.startsWith(prefix)) yield join(folder, name);
  }
}

/**
 * Installed connectors, one per connector name, sorted by it; beside this program wins over the working directory.
 * Without `every`, only packages that are named as connectors are looked at: reading each package.json takes a while.
 */
export function installedConnectors(bases: Bases = defaultBases(), every = false): Found[] {
  const found = new Map<string, Found>();
  const add = (one: Found) => {
    if (!found.has(one.reversi.connector)) found.set(one.reversi.connector, one);
  };
  const look = (folders: readonly string[], foreign: boolean) => {
    for (const folder of folders.flatMap((modules) => [...packagesIn(modules, every)])) {
      const { name = "", reversi } = readPackageJson(folder) ?? {};
      if (isField(reversi)) add({ packageName: name, folder, reversi, foreign });
    }
  };
  const own = ownFolders(bases);
  look(own, false);
  const around = connectorAround(bases.working);
  if (around) add(around);
  look(
    modulesFolders(bases.working).filter((folder) => !own.includes(folder)),
    true,
  );
  return [...found.values()].sort((a, b) => (a.reversi.connector < b.reversi.connector ? -1 : 1));
}

/** The connector whose tools begin with `name.`, whatever its package is called. */
export const connectorNamed = (name: string, bases: Bases = defaultBases()): Found | undefined => {
  const called = ({ reversi }: Found) => reversi.connector === name;
  return installedConnectors(bases).find(called) ?? installedConnectors(bases, true).find(called);
};

const conditions = new Set(["import", "module-sync", "node", "default"]);

/** The target of an `exports` entry under the conditions of an import. */
function target(entry: unknown): string | undefined {
  if (typeof entry === "string") return entry;
  if (Array.isArray(entry)) return entry.map(target).find((found) => found !== undefined);
  for (const [condition, inner] of Object.entries((entry ?? {}) as object)) {
    const found = conditions.has(condition) ? target(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a connector package may export. */
type Entry = "." | "./sandbox" | "./certification";

/** The file behind an entry of a package. @throws UsageError when the package does not export it */
export function entryOf({ packageName, folder }: Found, subpath: Entry = "."): string {
  const { exports, main } = readPackageJson(folder) ?? {};
  const table = exports as Readonly<Record<string, unknown>> | string | undefined;
  const entry = typeof table === "object" && subpath in table ? table[subpath] : undefined;
  const whole =
    subpath === "." ? (target(table) ?? (table === undefined ? (main ?? "index.js") : undefined)) : undefined;
  const file = target(entry) ?? whole;
  if (file === undefined) throw new UsageError(`${packageName} (${folder}) does not export "${subpath}"`);
  return join(folder, file);
}

const load = async (found: Found, subpath: Entry): Promise<Readonly<Record<string, unknown>>> => {
  const file = entryOf(found, subpath);
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const why = (error as { message?: unknown } | null)?.message ?? error;
    throw new UsageError(`${found.packageName} (${file}) could not be loaded: ${why}`);
  }
};

/** What a connector package says of itself. @throws UsageError when it exports no definition */
export function definitionOf(found: Found, module: Readonly<Record<string, unknown>>): AnyDefinition {
  const definition = module["definition"] as AnyDefinition | undefined;
  if (typeof definition?.create !== "function" || !Array.isArray(definition.manifests)) {
    throw new UsageError(
      `${found.packageName} (${found.folder}) is no connector: it exports no \`definition\` made by defineConnector`,
    );
  }
  return definition;
}

export const loadDefinition = async (found: Found): Promise<AnyDefinition> =>
  definitionOf(found, await load(found, "."));

/** What the package brings to its certification. @throws UsageError when it brings nothing */
export async function loadSubject(found: Found): Promise<Subject> {
  const { subject } = await load(found, "./certification");
  if (typeof (subject as Partial<Subject> | undefined)?.backend === "function") return subject as Subject;
  throw new UsageError(
    `${found.packageName} (${found.folder}) exports no \`subject\` from "./certification"`,
  );
}

/** @throws UsageError when the package has no sandbox */
export async function loadSandbox(found: Found): Promise<SandboxModule<object>> {
  const module = (await load(found, "./sandbox")) as unknown as SandboxModule<object>;
  if (typeof module.sandbox === "function" && typeof module.attach === "function") return module;
  throw new UsageError(`${found.packageName}: its "./sandbox" must export \`sandbox\` and \`attach\``);
}
