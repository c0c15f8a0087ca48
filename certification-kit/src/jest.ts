import { aboutContract, certify } from "./certify.ts";
import { checks, guarantees } from "./checks.ts";
import type { Certification, CheckResult } from "./result.ts";
import type { Subject } from "./subject.ts";

/** What the adapter needs of a test runner; Jest, Vitest and node:test have it. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
}

const longestMs = 600_000;

function outcome(result: CheckResult | undefined): void {
  if (result === undefined) throw new Error("the check did not run");
  if (result.status === "fail") {
    const text = result.failures.map(({ tool, case: name, message }) => `${tool}: ${name}: ${message}`);
    throw new Error(`${result.failures.length} of ${result.cases} cases failed:\n${text.join("\n")}`);
  }
  if (result.status === "not_run") throw new Error(`not run: ${result.reason}`);
}

/**
 * One test for each check and guarantee, all from one certification; of the contract, where REVERSI_CONTRACTS names the
 * folder with the vendor's description. A check that does not apply passes: it has its
 * reason in the report.
 */
export function describeCertification(
  subject: Subject,
  { describe, test }: Runner = globalThis as unknown as Runner,
): void {
  describe("certification", () => {
    let running: Promise<Certification> | undefined;
    const contracts = process.env["REVERSI_CONTRACTS"];
    const described = contracts && subject.contract ? [aboutContract] : [];
    for (const { name, title, sentence } of [...checks, ...guarantees, ...described]) {
      const verify = async () => {
        running ??= certify(subject, { contracts });
        const found = await running;
        outcome([...found.checks, ...found.guarantees].find((result) => result.name === name));
      };
      test(`${title}: ${sentence}`, verify, longestMs);
    }
  });
}
