import type { Certification, CheckResult, Status } from "../result.ts";

const words: Readonly<Record<Status, string>> = {
  pass: "pass",
  fail: "FAIL",
  not_applicable: "n/a",
  not_run: "not run",
};

const failuresOf = (result: CheckResult) => (result.status === "fail" ? result.failures : []);
const reasonOf = (result: CheckResult) => ("reason" in result ? result.reason : "");
const seenOf = (result: CheckResult) =>
  `${result.cases} cases${result.status === "pass" && result.by ? ` by ${result.by}` : ""}`;

function rows(title: string, results: readonly CheckResult[]): string[] {
  const width = Math.max(...results.map((result) => result.title.length), title.length);
  return [
    title,
    ...results.flatMap((result) => [
      `  ${result.title.padEnd(width)}  ${words[result.status].padEnd(7)}  ${
        reasonOf(result) || seenOf(result)
      }`.trimEnd(),
      ...failuresOf(result).map(({ tool, case: name, message }) => `      ${tool}: ${name}: ${message}`),
    ]),
  ];
}

/** Certifications as text for a terminal: what failed, where, and what was seen. */
export const asTable = (certifications: readonly Certification[]): string =>
  certifications
    .flatMap(({ connector, version, checks, guarantees, risks, milliseconds }) => [
      `${connector} ${version} (${(milliseconds / 1000).toFixed(1)} s)`,
      ...rows("Checks", checks),
      ...rows("Guarantees", guarantees),
      ...(risks.length > 0 ? ["Risks", ...risks.map((risk) => `  ${risk}`)] : []),
      "",
    ])
    .join("\n");
