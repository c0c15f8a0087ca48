import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Change } from "./fault.ts";

/** A request in its bytes. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly text: string;
}

type Pairs = readonly (readonly [name: string, value: string])[];
const pairsOf = (raw: readonly string[]): Pairs =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : []));
const flat = (pairs: Pairs): string[] => pairs.flat();
const is = (name: string, wanted: string) => name.toLowerCase() === wanted.toLowerCase();

const without = ({ rawHeaders, ...rest }: RawRequest, header: string): RawRequest => ({
  ...rest,
  rawHeaders: flat(pairsOf(rawHeaders).filter(([name]) => !is(name, header))),
});
const withHeader = (request: RawRequest, header: string, value: string): RawRequest => {
  const rest = without(request, header);
  return { ...rest, rawHeaders: [...rest.rawHeaders, header, value] };
};
const withText = (request: RawRequest, text: string): RawRequest => ({
  ...withHeader(request, "content-length", String(Buffer.byteLength(text))),
  text,
});

const contentType = ({ rawHeaders }: RawRequest): string =>
  pairsOf(rawHeaders).find(([name]) => is(name, "content-type"))?.[1] ?? "";
const extra = "certification_unknown";

function unknownField(request: RawRequest): RawRequest | undefined {
  if (/json/i.test(contentType(request))) {
    const body: unknown = JSON.parse(request.text);
    if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
    return withText(request, JSON.stringify({ ...body, [extra]: "1" }));
  }
  if (/x-www-form-urlencoded/i.test(contentType(request))) {
    return withText(request, `${request.text}${request.text === "" ? "" : "&"}${extra}=1`);
  }
  return undefined;
}

/** The last segment of the path that looks like an id, made into one that no backend knows. */
function wrongId(request: RawRequest): RawRequest | undefined {
  const [path = "", ...query] = request.path.split("?");
  const segments = path.split("/");
  const at = segments.findLastIndex((segment) => /\d/.test(segment));
  if (at === -1) return undefined;
  segments[at] = "certification-no-such-id";
  return { ...request, path: [segments.join("/"), ...query].join("?") };
}

/** A malformed twin; undefined where the change makes no sense for this request. */
export function changed(request: RawRequest, change: Change): RawRequest | undefined {
  const hasBody = request.text !== "";
  switch (change.kind) {
    case "none":
      return request;
    case "withoutHeader":
      return pairsOf(request.rawHeaders).some(([name]) => is(name, change.header))
        ? without(request, change.header)
        : undefined;
    case "header":
      return withHeader(request, change.header, change.value);
    case "unknownQuery":
      return { ...request, path: `${request.path}${request.path.includes("?") ? "&" : "?"}${extra}=1` };
    case "unknownField":
      return hasBody ? unknownField(request) : undefined;
    case "brokenBody":
      return hasBody && /json/i.test(contentType(request))
        ? withText(request, `{${request.text}`)
        : undefined;
    case "contentType":
      return hasBody ? withHeader(request, "content-type", "text/plain") : undefined;
    case "wrongId":
      return wrongId(request);
  }
}

/** Sends a request as it is and tells the status of the answer. The certificate of a sandbox is nobody's concern here. */
export function send(address: string, { method, path, rawHeaders, text }: RawRequest): Promise<string> {
  const { protocol, hostname, port } = new URL(address);
  const request = protocol === "https:" ? httpsRequest : httpRequest;
  const headers = pairsOf(rawHeaders).filter(([name]) => !is(name, "connection"));
  return new Promise((resolve, reject) => {
    const sending = request({
      ...{ hostname, port, method, path, agent: false, rejectUnauthorized: false },
      headers: flat(headers),
    });
    sending.on("error", reject);
    sending.on("response", (answer) => {
      answer.on("error", reject).on("end", () => resolve(String(answer.statusCode)));
      answer.resume();
    });
    sending.end(text);
  });
}
