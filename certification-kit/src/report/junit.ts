import type { Certification, CheckResult } from "../result.ts";

const escaped = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    // XML 1.0 has no other control characters, not even escaped.
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "?");

function testcase(connector: string, result: CheckResult): string {
  const opening = `    <testcase classname="${escaped(connector)}" name="${escaped(result.title)}"`;
  switch (result.status) {
    case "pass":
      return `${opening}/>`;
    case "fail": {
      const text = result.failures.map(({ tool, case: name, message }) => `${tool}: ${name}: ${message}`);
      const message = escaped(`${result.failures.length} of ${result.cases} cases failed`);
      return `${opening}>\n      <failure message="${message}">${escaped(text.join("\n"))}</failure>\n    </testcase>`;
    }
    default:
      return `${opening}>\n      <skipped message="${escaped(result.reason)}"/>\n    </testcase>`;
  }
}

/** Certifications as JUnit XML: one suite for each connector, one test case for each check. */
export function asJunit(certifications: readonly Certification[]): string {
  const suites = certifications.map(({ connector, checks, guarantees, milliseconds }) => {
    const all = [...checks, ...guarantees];
    const count = (...statuses: readonly string[]) =>
      all.filter(({ status }) => statuses.includes(status)).length;
    const numbers = `tests="${all.length}" failures="${count("fail")}" skipped="${count("not_applicable", "not_run")}"`;
    return [
      `  <testsuite name="${escaped(connector)}" ${numbers} time="${(milliseconds / 1000).toFixed(3)}">`,
      ...all.map((result) => testcase(connector, result)),
      "  </testsuite>",
    ].join("\n");
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`;
}
