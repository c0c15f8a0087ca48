import type { Check } from "./check.ts";
import { compensationFailure } from "./checks/compensation-failure.ts";
import { compensationSuccess } from "./checks/compensation-success.ts";
import { dependencyBlock } from "./checks/dependency-block.ts";
import { duplicateCall } from "./checks/duplicate-call.ts";
import { forwardFailure } from "./checks/forward-failure.ts";
import { forwardSuccess } from "./checks/forward-success.ts";
import { manifestDrift } from "./checks/manifest-drift.ts";
import { permissionDenial } from "./checks/permission-denial.ts";
import { redaction } from "./checks/redaction.ts";
import { retry } from "./checks/retry.ts";
import { timeout } from "./checks/timeout.ts";
import { verificationFailure } from "./checks/verification-failure.ts";
import { guard } from "./guarantees/guard.ts";
import { lostAnswer } from "./guarantees/lost-answer.ts";
import { residue } from "./guarantees/residue.ts";
import { sandbox } from "./guarantees/sandbox.ts";

/** The twelve checks, in the order of the table. */
export const checks: readonly Check[] = [
  forwardSuccess,
  forwardFailure,
  duplicateCall,
  retry,
  compensationSuccess,
  compensationFailure,
  verificationFailure,
  permissionDenial,
  timeout,
  redaction,
  dependencyBlock,
  manifestDrift,
];

/** What manifests and sandboxes claim beyond the twelve. */
export const guarantees: readonly Check[] = [lostAnswer, guard, residue, sandbox];
