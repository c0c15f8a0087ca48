import type { Certification, CheckResult, Status } from "../result.ts";

const words: Readonly<Record<Status, string>> = {
  pass: "pass",
  fail: "**fail**",
  not_applicable: "n/a",
  not_run: "not run",
};
const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const row = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;

type Column = (certification: Certification) => readonly CheckResult[];

function table(certifications: readonly Certification[], column: Column): string[] {
  const titles = [...new Set(certifications.flatMap((each) => column(each).map(({ title }) => title)))];
  const cellOf = (results: readonly CheckResult[], title: string) =>
    words[results.find((result) => result.title === title)?.status ?? "not_run"];
  return [
    row(["Connector", ...titles]),
    row(["-", ...titles.map(() => "-")]),
    ...certifications.map((each) =>
      row([each.connector, ...titles.map((title) => cellOf(column(each), title))]),
    ),
  ];
}

const held = (certifications: readonly Certification[]): string[] =>
  certifications.flatMap(({ connector, guarantees }) =>
    guarantees.flatMap((result) =>
      result.status === "pass" && result.by ? [`* ${connector}, ${result.title}: ${cell(result.by)}`] : [],
    ),
  );

const reasons = (certifications: readonly Certification[]): string[] =>
  certifications.flatMap(({ connector, checks, guarantees }) =>
    [...checks, ...guarantees].flatMap((result) =>
      "reason" in result ? [`* ${connector}, ${result.title}: ${cell(result.reason)}`] : [],
    ),
  );

/** A list that opens on a click. */
const folded = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", "<details>", `<summary>${title}</summary>`, "", ...lines, "", "</details>"];

/** Certifications as the tables of a README: results, why something is n/a, and the risks. */
export function asMarkdown(certifications: readonly Certification[]): string {
  if (certifications.length === 0) return "";
  const risks = certifications.flatMap((each) =>
    each.risks.map((risk) => `* ${each.connector}: ${cell(risk)}`),
  );
  const by = held(certifications);
  const why = reasons(certifications);
  return [
    ...table(certifications, ({ checks }) => checks),
    "",
    ...table(certifications, ({ guarantees }) => guarantees),
    ...folded("Held against what others wrote", by),
    ...folded("Why a check did not run", why),
    ...folded("Risks", risks),
    "",
  ].join("\n");
}
