export type { BodyAs, BodyForm, Expect, HttpAnswer } from "./answer.ts";
export { type HttpClient, type HttpConnectionOptions, type HttpReader, httpConnection } from "./client.ts";
export {
  encodeForm,
  encodeQuery,
  encodeSegment,
  path,
  type Query,
  type Segments,
  segments,
} from "./encode.ts";
export { answerOf, type VendorProblem } from "./outcome.ts";
export type { Headers, OutgoingRequest, ReadRequest, WriteRequest } from "./request.ts";
