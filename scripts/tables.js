// Writes the tool tables and the results of the certification into the READMEs: `npm run tables`. Tests compare.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { caseTable } from "./cases.js";

const marker = (name) => [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];

/** `text` with everything between the two markers replaced. */
export function filled(text, name, content) {
  const [start, end] = marker(name);
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`no ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
}

const connectors = readdirSync(new URL("../connectors", import.meta.url)).sort();

/** The connectors that bring a subject to certify them by. */
export const certifiable = connectors.filter((name) => {
  const facts = JSON.parse(
    readFileSync(new URL(`../connectors/${name}/package.json`, import.meta.url), "utf8"),
  );
  return facts.exports["./certification"] !== undefined;
});

/** How the README's certification is run, in the root of this repository. */
export const certification = ["certify", ...certifiable, "--format", "markdown"];
const record = "witness/record.json";
if (existsSync(new URL(`../${record}`, import.meta.url))) certification.push("--witness", record);

const guardWords = { none: "none", version: "version", content: "content" };
function guardOf({ effect, guarantees }) {
  if (!guarantees || effect === "irreversible" || guarantees.guard === "none") return "";
  const by = guarantees.guard_server_side ? "held by the backend" : "by reading";
  return `${guardWords[guarantees.guard]}, ${by}`;
}
function lostOf({ effect, guarantees }) {
  if (effect === "read_only") return "";
  if (effect === "idempotent") return "repeat";
  if (guarantees.uncertain === "landed") return "looked up";
  return guarantees.undo_from_checkpoint ? "undone from the checkpoint" : "reported";
}

/** One row a tool: what it does to the world, and how that is taken back. */
export function toolTable(manifests) {
  const rows = manifests.map((manifest) => {
    const { tool, effect, permission, approval, compensation, guarantees } = manifest;
    const residue = (guarantees?.residue ?? []).map(({ text }) => text).join(" ");
    return [
      `\`${tool}\``,
      approval ? `${effect}, approval ${approval}` : effect,
      `\`${permission}\``,
      compensation ? `\`${compensation.tool}\`` : "",
      guardOf(manifest),
      lostOf(manifest),
      residue,
    ];
  });
  const head = [
    "Tool",
    "Effect",
    "Permission",
    "Undone by",
    "Guard",
    "Lost answer",
    "What stays after the undo",
  ];
  return [head, head.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Every README with generated parts, as it should read: path → text. */
export async function expectedReadmes(load) {
  const definitions = [];
  // One after the other: loaders that tests bring do not stand two at once.
  for (const name of connectors) definitions.push(await load(name));
  const readmes = new Map();
  const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  for (const definition of definitions) {
    const path = `connectors/${definition.name}/README.md`;
    readmes.set(path, filled(read(path), "tools", toolTable(definition.manifests)));
  }
  const all = definitions.map(({ name, manifests }) => `### ${name}\n\n${toolTable(manifests)}`).join("\n\n");
  readmes.set("README.md", filled(read("README.md"), "tools", `\n${all}\n`));
  return readmes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const load = async (name) =>
    (await import(new URL(`../connectors/${name}/dist/index.js`, import.meta.url).href)).definition;
  for (const [path, text] of await expectedReadmes(load)) {
    writeFileSync(new URL(`../${path}`, import.meta.url), text);
  }
  const root = fileURLToPath(new URL("..", import.meta.url));
  const cases = join(root, "docs/cases.md");
  writeFileSync(cases, filled(readFileSync(cases, "utf8"), "cases", caseTable(root)));
  const program = fileURLToPath(new URL("../cli/dist/bin/reversi-connectors.js", import.meta.url));
  const printed = execFileSync(process.execPath, [program, ...certification], {
    cwd: root,
    encoding: "utf8",
  });
  const readme = new URL("../README.md", import.meta.url);
  writeFileSync(readme, filled(readFileSync(readme, "utf8"), "certification", `\n${printed.trim()}\n`));
}
