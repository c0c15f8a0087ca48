import type { Failure } from "./bench.ts";
import type { CheckName, GuaranteeName } from "./check.ts";

/** How a check ended for one tool, or for the whole connector. */
export type Status = "pass" | "fail" | "not_applicable" | "not_run";

interface Verdict {
  readonly name: CheckName | GuaranteeName;
  readonly title: string;
  readonly sentence: string;
  /** Tool → how it ended; tools that the check does not concern are left out. */
  readonly tools: Readonly<Record<string, Status>>;
  /** How many cases were tried. */
  readonly cases: number;
}
/** What one check found. Only a check that applies and ran goes without a reason. */
export type CheckResult = Verdict &
  /** `by`: the description, or the software of others, that it was held against. */
  (
    | { readonly status: "pass"; readonly by?: string }
    | { readonly status: "fail"; readonly failures: readonly Failure[] }
    | { readonly status: "not_applicable" | "not_run"; readonly reason: string }
  );

/** What software that neither connector nor kit brings has shown, in a run of its own. */
export interface Witness {
  /** Each with its version. */
  readonly by: readonly string[];
  /** How many operations, and errors, it went through. */
  readonly operations: number;
}

/** A connector's certification: what was seen in this very run. */
export interface Certification {
  readonly connector: string;
  readonly version: string;
  readonly checks: readonly CheckResult[];
  readonly guarantees: readonly CheckResult[];
  /** What is weaker than one may think, one sentence each. */
  readonly risks: readonly string[];
  readonly milliseconds: number;
}

/** Everything that applies ran and passed. `contract` and `witness` need what not everybody has. */
export const isCertified = ({ checks, guarantees }: Certification): boolean =>
  [...checks, ...guarantees].every(
    ({ name, status }) =>
      status === "pass" ||
      status === "not_applicable" ||
      (status === "not_run" && (name === "contract" || name === "witness")),
  );
