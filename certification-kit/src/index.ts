export type { Bench, BenchOptions, Case, Clean, CleanUndo, Failure } from "./bench.ts";
export { type CertifyOptions, certify } from "./certify.ts";
export type { Check, CheckName, GuaranteeName } from "./check.ts";
export { checks, guarantees } from "./checks.ts";
export type { OpenApiOptions } from "./contract/openapi.ts";
export type { Contract, Exchange } from "./contract.ts";
export type { Applies, Facts, ToolFacts } from "./facts.ts";
export type { Change, EchoForm, Fault, SentRequest, Statuses, Wire } from "./fault.ts";
export {
  type HttpAnswer,
  type HttpFault,
  type HttpRequest,
  type HttpSandbox,
  type HttpWireOptions,
  httpWire,
} from "./http-wire.ts";
export { asJson } from "./report/json.ts";
export { asJunit } from "./report/junit.ts";
export { asMarkdown } from "./report/markdown.ts";
export { asTable } from "./report/table.ts";
export { type Certification, type CheckResult, isCertified, type Status, type Witness } from "./result.ts";
export { formsOf, searcherFor } from "./secrets.ts";
export type {
  After,
  Arranging,
  Backend,
  Connect,
  Explains,
  Given,
  Kit,
  Made,
  Plan,
  Subject,
  Twin,
} from "./subject.ts";
export { type TcpFault, type TcpProxy, type TcpSpot, type TcpTarget, tcpProxy } from "./tcp-proxy.ts";
