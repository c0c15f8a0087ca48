import type { Bench } from "./bench.ts";
import type { Applies, Facts, ToolFacts } from "./facts.ts";

export type CheckName =
  | "forward_success"
  | "forward_failure"
  | "duplicate_call"
  | "retry"
  | "compensation_success"
  | "compensation_failure"
  | "verification_failure"
  | "permission_denial"
  | "timeout"
  | "redaction"
  | "dependency_block"
  | "manifest_drift";
export type GuaranteeName = "lost_answer" | "guard" | "residue" | "sandbox" | "contract" | "witness";

/** One check: a title, a sentence, whom it concerns, and how it looks. */
export interface Check {
  readonly name: CheckName | GuaranteeName;
  readonly title: string;
  readonly sentence: string;
  /** Whether there is anything to check, decided by facts alone. */
  applies(facts: Facts): Applies;
  /** The tools it is about; all when left out. */
  concerns?(tool: ToolFacts, facts: Facts): boolean;
  /** Checks that must have passed for a tool before this one can say anything about it. */
  readonly after: readonly CheckName[];
  /** Looks at one tool. What is wrong is told to the bench. */
  verify(bench: Bench): Promise<void>;
}
