import { readFileSync } from "node:fs";
import {
  asJson,
  asJunit,
  asMarkdown,
  asTable,
  type Certification,
  type CheckName,
  certify as certifySubject,
  checks,
  type GuaranteeName,
  guarantees,
  isCertified,
  type Witness,
} from "@reversi-connector/certification-kit";
import { UsageError } from "@reversi-connector/core/program";
import type { Format } from "./certify-formats.ts";
import { type Found, loadSubject } from "./discover.ts";
import { redactorFor } from "./enable.ts";
import { takeStdout } from "./log.ts";
import { findAll, printing } from "./manifests.ts";
import { exitCode } from "./usage.ts";

export interface CertifyFlags {
  readonly format: Format;
  readonly check?: readonly string[] | undefined;
  readonly list?: boolean | undefined;
  /** Folder of the vendors' descriptions; REVERSI_CONTRACTS when left out. */
  readonly contracts?: string | undefined;
  /** A record of what software of others has shown, by connector: JSON. */
  readonly witness?: string | undefined;
}

const reports: Readonly<Record<Format, (certifications: readonly Certification[]) => string>> = {
  table: asTable,
  json: asJson,
  junit: asJunit,
  markdown: asMarkdown,
};

const all = [...checks, ...guarantees];
const fileOf = (name: string, folder: string) =>
  `certification-kit/src/${folder}/${name.replaceAll("_", "-")}.ts`;

/** Every check in one sentence, with the file that holds it. */
const checklist = (): string =>
  [
    ...checks.map((check) => ({ ...check, file: fileOf(check.name, "checks") })),
    ...guarantees.map((check) => ({ ...check, file: fileOf(check.name, "guarantees") })),
  ]
    .map(({ name, title, sentence, file }) => `${title} (${name})\n  ${sentence}\n  ${file}\n`)
    .join("");

/** Names as people write them: `forward_success`, `forward-success` or `Forward success`. */
function namesOf(wanted: readonly string[]): (CheckName | GuaranteeName)[] {
  return wanted.map((text) => {
    const name = text.toLowerCase().replace(/[ -]/g, "_");
    const found = all.find((check) => check.name === name);
    if (found) return found.name;
    throw new UsageError(`there is no check ${text}; there are ${all.map((check) => check.name).join(", ")}`);
  });
}

type Witnesses = Readonly<Record<string, Witness | undefined>>;

function witnessesIn(file: string): Witnesses {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--witness: ${file} cannot be read: ${(error as { message?: unknown }).message}`);
  }
}

/** A connector whose backend or code does not come about was not certified: every check says so, with the reason. */
function notRun({ reversi }: Found, version: string, error: unknown): Certification {
  const reason = `could not run: ${(error as { message?: unknown } | null)?.message ?? error}`;
  const result = ({ name, title, sentence }: (typeof all)[number]) =>
    ({ name, title, sentence, tools: {}, cases: 0, status: "not_run", reason }) as const;
  return {
    connector: reversi.connector,
    version,
    checks: checks.map(result),
    guarantees: guarantees.map(result),
    risks: [],
    milliseconds: 0,
  };
}

async function certifyOne(
  found: Found,
  only: ReturnType<typeof namesOf>,
  { contracts, witness }: { readonly contracts: string | undefined; readonly witness: Witnesses },
): Promise<Certification> {
  const progress = process.stderr.isTTY
    ? ({ title, status }: { readonly title: string; readonly status: string }) =>
        void process.stderr.write(`${found.reversi.connector}: ${title}: ${status}\n`)
    : undefined;
  try {
    return await certifySubject(await loadSubject(found), {
      ...(only.length > 0 && { only }),
      contracts,
      witness: witness[found.reversi.connector],
      ...(progress && { progress }),
    });
  } catch (error) {
    return notRun(found, "", error);
  }
}

/** Runs the certification of one connector, or of all that are installed, and prints what was seen. */
export async function certify(
  names: readonly string[],
  { format, check = [], list, contracts = process.env["REVERSI_CONTRACTS"], witness: file }: CertifyFlags,
): Promise<void> {
  if (list) return void process.stdout.write(checklist());
  if (names.length === 0) throw new UsageError("say what to certify: a connector, a path, or all");
  const only = namesOf(check);
  const found = findAll(names);
  const print = printing(takeStdout(redactorFor(found, process.env)));
  const beyond = { contracts, witness: file === undefined ? {} : witnessesIn(file) };
  const certifications: Certification[] = [];
  // One after the other: each has its own processor time, and its own deadlines.
  for (const each of found) certifications.push(await certifyOne(each, only, beyond));
  await print(reports[format](certifications));
  process.exitCode = certifications.every(isCertified) ? exitCode.ok : exitCode.failed;
}
