export type { Bench, Case, Failure } from "./bench.ts";
export { type CertifyOptions, certify } from "./certify.ts";
export type { Check, CheckName, GuaranteeName } from "./check.ts";
export { checks, guarantees } from "./checks.ts";
