import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { checkValue, type JsonSchema, type Manifest } from "@reversi-connector/core";
import { Registry } from "@reversi-connector/engine";
import { hasCode, messageOf, UsageError } from "./usage.ts";

const text: JsonSchema = { type: "string", minLength: 1 };
const anyObject: JsonSchema = { type: "object" };
const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });

/** What a manifest must look like. A hand-written one may leave out everything that only says more. */
const manifestSchema: JsonSchema = {
  type: "object",
  required: ["tool", "effect", "permission"],
  additionalProperties: false,
  properties: {
    tool: text,
    title: { type: "string" },
    description: { type: "string" },
    effect: {
      type: "string",
      enum: ["read_only", "reversible", "compensable", "idempotent", "irreversible"],
    },
    permission: text,
    approval: { type: "string", enum: ["always"] },
    compensation: {
      type: "object",
      required: ["tool", "argument_map"],
      additionalProperties: false,
      properties: {
        tool: text,
        argument_map: {
          type: "object",
          additionalProperties: {
            anyOf: [
              { type: "string", pattern: "^(args|result)(\\.[^.]+)+$" },
              { type: "object", required: ["const"], properties: { const: {} }, additionalProperties: false },
            ],
          },
        },
      },
    },
    requires: list({
      type: "object",
      required: ["tool", "match"],
      additionalProperties: false,
      properties: { tool: text, match: { type: "object", minProperties: 1 } },
    }),
    target: list(text),
    on_conflict: list({ type: "string", enum: ["refuse", "overwrite"] }),
    input_schema: anyObject,
    schema_hash: { type: "string", pattern: "^[0-9a-f]{64}$" },
    definition_hash: { type: "string", pattern: "^[0-9a-f]{64}$" },
    guarantees: anyObject,
  },
};

/** Where a manifest stands: for messages. */
interface Place {
  readonly file: string;
  /** Which one of the file's list; undefined when the file holds one manifest. */
  readonly index: number | undefined;
}
interface Placed extends Place {
  readonly manifest: Manifest;
}

/** The line, counted from 1, of the value at a path in a YAML or JSON text, or of the nearest thing around it. */
async function lineOf(source: string, path: readonly (string | number)[]): Promise<number> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(source, { lineCounter, merge: true });
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: readonly number[] } | undefined;
    if (node?.range) return lineCounter.linePos(node.range[0] ?? 0).line;
  }
  return 1;
}

const stepsOf = (at: string): (string | number)[] =>
  [...at.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([whole, index]) =>
    index === undefined ? whole : Number(index),
  );

const complain = async ({ file, index }: Place, source: string, at: string, rule: string): Promise<never> => {
  const line = await lineOf(source, [...(index === undefined ? [] : [index]), ...stepsOf(at)]);
  throw new UsageError(`${file}:${line}: ${at} ${rule}`);
};

async function parse(file: string, source: string): Promise<unknown> {
  try {
    if (extname(file) === ".json") return JSON.parse(source.replace(/^\uFEFF/, ""));
  } catch {
    // YAML reads JSON too, and says where it stopped.
  }
  const { parseDocument } = await import("yaml");
  const document = parseDocument(source, { merge: true });
  const [error] = document.errors;
  if (error) {
    const line = error.linePos?.[0].line ?? 1;
    throw new UsageError(`${file}:${line}: ${error.message.split("\n")[0]?.replace(/ at line .*$/, "")}`);
  }
  return document.toJS();
}

async function read(file: string): Promise<Placed[]> {
  let source: string;
  try {
    source = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file}: it cannot be read: ${messageOf(error)}`);
  }
  const content = await parse(file, source);
  const items = Array.isArray(content) ? content : [content];
  const placed: Placed[] = [];
  for (const [position, item] of items.entries()) {
    const place = { file, index: Array.isArray(content) ? position : undefined };
    const [problem] = checkValue(manifestSchema, item, 1, "the manifest");
    if (problem) await complain(place, source, problem.at, problem.rule);
    const given = item as Manifest;
    const defaults = { title: given.tool, description: "", input_schema: { type: "object" } };
    placed.push({ ...place, manifest: { ...defaults, ...given } });
  }
  return placed;
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => [".yaml", ".yml", ".json"].includes(extname(name)));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw new UsageError(
      hasCode(error, "ENOENT") ? `--manifests: there is no ${path}` : `--manifests: ${messageOf(error)}`,
    );
  }
}

/** Says where the manifests stand that a message begins with. */
function located(message: string, all: readonly Placed[]): string {
  const parts = message.split("; ").map((part) => {
    const about = all.find(
      ({ manifest: { tool } }) => part.includes(`${tool} `) || part.includes(`${tool}:`),
    );
    return about ? `${about.file}: ${part.replace(/^manifests do not fit together: /, "")}` : part;
  });
  return parts.join("; ");
}

/**
 * The manifests in a folder's `.yaml`, `.yml` and `.json` files, or in one file, each with one manifest or a list.
 * @throws UsageError naming file, line and rule
 */
export async function loadManifests(
  path: string,
): Promise<{ registry: Registry; manifests: readonly Manifest[] }> {
  const files = filesOf(path);
  if (files.length === 0) throw new UsageError(`--manifests: ${path} has no .yaml, .yml or .json file`);
  const all: Placed[] = [];
  for (const file of files) all.push(...(await read(file)));
  const first = new Map<string, Placed>();
  for (const placed of all) {
    const { tool } = placed.manifest;
    const other = first.get(tool);
    if (other) {
      const where = [other, placed].map(async ({ file, index }) => {
        const line = await lineOf(
          readFileSync(file, "utf8"),
          index === undefined ? ["tool"] : [index, "tool"],
        );
        return `${file}:${line}`;
      });
      throw new UsageError(`${tool} has two manifests: ${(await Promise.all(where)).join(" and ")}`);
    }
    first.set(tool, placed);
  }
  const manifests = all.map(({ manifest }) => manifest);
  try {
    return { registry: Registry.from(manifests), manifests };
  } catch (error) {
    throw new UsageError(located(messageOf(error), all));
  }
}
