export type { LostContext } from "./call.ts";
export { callHash, callUuid } from "./call-hash.ts";
export { checkValue, describeProblems, type Problem } from "./check.ts";
export { type CompensationCall, type Compensator, compensatorFor } from "./compensator.ts";
export {
  type CommonOptions,
  type Connector,
  type ConnectorDefinition,
  type ConnectorOptions,
  type DefineOptions,
  defineConnector,
} from "./connector.ts";
export {
  type ContentArguments,
  contentLimit,
  decodeContent,
  type Encoding,
  encodeContent,
  mediaTypeOf,
} from "./content.ts";
export { connectorSchemaHashes, type Drift, detectManifestDrift } from "./drift.ts";
export {
  type Answer,
  type AnyConnectorError,
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  type ErrorBody,
  type ErrorCode,
  errorBody,
  InvalidArgumentsError,
  isConnectorError,
  refuseArgument,
} from "./errors.ts";
export { canonicalJson, hashOf, sha256Hex } from "./hash.ts";
export {
  type Description,
  definitionHash,
  type Guarantees,
  type Manifest,
  type ManifestArgumentMap,
  type ManifestMatch,
  schemaHash,
} from "./manifest.ts";
export { type Redactor, redactor, type Secrets } from "./redact.ts";
export { type OnConflict, type RestoreOptions, type ThreeStates, threeWayRestore } from "./restore.ts";
export type { Sandbox, SandboxModule } from "./sandbox.ts";
export {
  type Defaulted,
  type Json,
  type JsonSchema,
  type ObjectSchema,
  type Schema,
  type Settled,
  type Static,
  s,
} from "./schema.ts";
export type { CallScope, Checkpoint, Connection, Context, Progress } from "./scope.ts";
export {
  checkOptions,
  type Flag,
  type PackageFacts,
  type ReversiField,
  readPackage,
  readSettings,
  type Setting,
} from "./settings.ts";
export {
  type ArgumentMap,
  type Call,
  type CheckpointingCall,
  type Const,
  type Effect,
  type Guard,
  type Holds,
  type HoldsFirst,
  type Idempotency,
  type Landed,
  type LostCall,
  type Match,
  type MatchSource,
  type Overlaps,
  type PathTo,
  type Ready,
  type Reference,
  type Residue,
  type RunCall,
  type Tool,
  type Toolbox,
  toolsFor,
  type Undo,
  type Write,
  type WriteCall,
} from "./tool.ts";
