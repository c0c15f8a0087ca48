import type { SandboxReply, SandboxRequest } from "./message.ts";

export type Handler<Request extends SandboxRequest = SandboxRequest> = (
  request: Request,
) => SandboxReply | Promise<SandboxReply>;

export interface RoutedRequest extends SandboxRequest {
  /** The path's named segments, each decoded once. */
  readonly params: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: string;
  readonly segments: readonly string[];
  readonly handler: Handler<RoutedRequest>;
}

/**
 * One route: `POST /repos/:owner/:repo/issues`. `:name` takes one segment, `*name` at the end takes the rest with its
 * slashes; everything else must stand on the request line just so.
 */
export function route(pattern: string, handler: Handler<RoutedRequest>): Route {
  const [method = "", path = ""] = pattern.split(" ");
  return { method, segments: path.split("/"), handler };
}

/** The named segments, still encoded; undefined where the route does not fit. */
function match({ segments }: Route, actual: readonly string[]): Record<string, string[]> | undefined {
  const last = segments.at(-1) ?? "";
  const open = last.startsWith("*");
  if (open ? actual.length < segments.length : actual.length !== segments.length) return undefined;
  const params: Record<string, string[]> = {};
  for (const [index, segment] of segments.entries()) {
    const given = actual[index] ?? "";
    if (segment.startsWith("*")) params[segment.slice(1)] = actual.slice(index);
    else if (segment.startsWith(":") && given !== "") params[segment.slice(1)] = [given];
    else if (segment !== given) return undefined;
  }
  return params;
}

/** Hands a request to the first route that fits, on the raw path; 404 in the vendor's form where none does. */
export const router =
  (routes: readonly Route[], otherwise: Handler = ({ error }) => error(404, "Not Found")): Handler =>
  (request) => {
    const actual = request.pathname.split("/");
    for (const candidate of routes) {
      if (candidate.method !== request.method) continue;
      const found = match(candidate, actual);
      if (!found) continue;
      try {
        const params = Object.fromEntries(
          Object.entries(found).map(([name, parts]) => [name, parts.map(decodeURIComponent).join("/")]),
        );
        return candidate.handler({ ...request, params });
      } catch (error) {
        if ((error as { name?: unknown }).name !== "URIError") throw error;
        return request.error(400, "the path is not percent-encoded");
      }
    }
    return otherwise(request);
  };
