import { InvalidArgumentsError } from "@reversi-connector/core";

/** Where a connection leads. */
export interface Origin {
  /** `https://api.example.com` */
  readonly origin: string;
  /** `api.example.com` */
  readonly host: string;
  /** The base URL's own path, without a slash at its end. */
  readonly prefix: string;
}

/** @throws InvalidArgumentsError naming `baseUrl` and never repeating it: it may hold a password */
export function readBaseUrl(baseUrl: string): Origin {
  const refuse = (rule: string): never => {
    throw new InvalidArgumentsError(`baseUrl ${rule}`, { problems: [{ at: "baseUrl", rule }] });
  };
  if (!URL.canParse(baseUrl) || /[\s\\]/.test(baseUrl)) return refuse("must be an absolute URL");
  const url = new URL(baseUrl);
  if (url.protocol !== "https:" && url.protocol !== "http:") refuse("must start with https:// or http://");
  if (/^[^/]*\/*[^/]*@/.test(baseUrl)) refuse("must not hold user info");
  if (/[?#]/.test(baseUrl)) refuse("must not hold a query or a fragment");
  return { origin: url.origin, host: url.host, prefix: url.pathname.replace(/\/+$/, "") };
}

const parse = (location: string, base: string): URL | undefined =>
  URL.canParse(location, base) ? new URL(location, base) : undefined;

/** What a parser leaves as it is. */
const plain = /^\/(?:[!$&-.0-;=@-Z_a-z~%][!$&-;=?-Z_a-z~%]*)?$/;

/**
 * The raw path with query that `location`, found at `from`, names on this origin; undefined when it leads elsewhere.
 */
export function pathOn({ origin }: Origin, location: string, from = "/"): string | undefined {
  const target = parse(location, origin + from);
  if (target?.origin !== origin || target.username !== "" || target.password !== "") return undefined;
  const [raw = ""] = (location.startsWith(`${origin}/`) ? location.slice(origin.length) : location).split(
    "#",
  );
  // As it was handed out where that is possible: it may be signed.
  return plain.test(raw) && !/(?:^|[/.])(?:\.|%2e)/i.test(raw) ? raw : target.pathname + target.search;
}

/** The host that `location` names: the most an error may say of it. */
export const hostOf = ({ origin }: Origin, location: string | undefined, from: string): string | undefined =>
  location === undefined ? undefined : parse(location, origin + from)?.host;
