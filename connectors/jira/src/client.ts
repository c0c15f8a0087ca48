import {
  type Connection,
  ConnectorError,
  InvalidArgumentsError,
  type Redactor,
  toolsFor,
} from "@reversi-connector/core";
import {
  answerOf,
  type HttpAnswer,
  type HttpClient,
  type HttpReader,
  httpConnection,
  type VendorProblem,
} from "@reversi-connector/http";

export interface JiraOptions {
  /** `https://yourco.atlassian.net`, or `https://api.atlassian.com/ex/jira/<cloudId>` for a token with scopes. */
  readonly baseUrl: string;
  /** The account that the token belongs to. */
  readonly email: string;
  readonly token: string;
}

/** Every tool of this package is declared through this. */
export const tool = toolsFor<HttpClient, HttpReader>("jira");

/** The shapes of Atlassian's API tokens, of basic credentials, and of the tokens of OAuth. */
export const tokenPatterns: readonly RegExp[] = [
  /AT[A-Z]TT3[A-Za-z0-9_=-]{20,}/g,
  /\bBasic [A-Za-z0-9+/_-]{16,}={0,2}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
];

const pairOf = ({ email, token }: JiraOptions) => `${email}:${token}`;
/** What basic authentication makes of the token is as good as the token. */
export const secretsIn = (options: JiraOptions): readonly string[] => [pairOf(options)];

const isLocal = (host: string) => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);

/** The root of the API at a site, its path kept. @throws InvalidArgumentsError that never repeats the address */
function apiOf(baseUrl: string): string {
  const refuse = (rule: string): never => {
    throw new InvalidArgumentsError(`jira: baseUrl (JIRA_BASE_URL) ${rule}; nothing was sent`, {
      problems: [{ at: "baseUrl", rule }],
    });
  };
  if (!URL.canParse(baseUrl)) return refuse("must be an address such as https://yourco.atlassian.net");
  const { protocol, hostname, username, password } = new URL(baseUrl);
  if (username !== "" || password !== "") refuse("must not hold a name or a password");
  if (/[?#]/.test(baseUrl)) refuse("must not hold a query or a fragment");
  if (protocol !== "https:" && !(protocol === "http:" && isLocal(hostname)))
    refuse("must start with https://");
  return `${baseUrl.replace(/\/+$/, "").replace(/\/rest\/api\/3$/, "")}/rest/api/3`;
}

export const connect = (
  options: JiraOptions,
  { redact }: { readonly redact: Redactor },
): Connection<HttpClient, HttpReader> =>
  httpConnection({
    baseUrl: apiOf(options.baseUrl),
    redact,
    // Jira takes whoever has a bad token for an anonymous visitor, and may answer with success.
    failed: ({ headers }) => loginIn(headers) !== undefined,
    problem,
    headers: {
      authorization: `Basic ${Buffer.from(pairOf(options)).toString("base64")}`,
      accept: "application/json",
      "user-agent": "reversi-connector-jira",
    },
  });

const logins: Readonly<Record<string, string>> = {
  AUTHENTICATED_FAILED:
    "401 in truth: the e-mail address or the API token is wrong or has expired, and Jira answered as to a stranger",
  AUTHENTICATION_DENIED: "Jira wants a captcha: log in once in a browser",
};
/** What went wrong with the credential; undefined when nothing did. */
const loginIn = (headers: HttpAnswer<unknown>["headers"]) =>
  Object.keys(logins).find((login) => headers["x-seraph-loginreason"]?.includes(login));

interface ErrorBody {
  readonly errorMessages?: unknown;
  readonly errors?: unknown;
  /** Of the gateways in front of Jira. */
  readonly message?: unknown;
}

/** Jira's sentences, in the language of the account; none where the answer is not Jira's own. */
function sentencesIn(body: unknown): string[] {
  const { errorMessages, errors, message } = (body ?? {}) as ErrorBody;
  const general = Array.isArray(errorMessages) ? errorMessages.map(String) : [];
  const ofFields = typeof errors === "object" && errors !== null ? Object.entries(errors) : [];
  const said = [...general, ...ofFields.map(([field, why]) => `${field}: ${why}`)];
  return said.length === 0 && typeof message === "string" ? [message] : said;
}

/** What Jira says of a failure. It has no codes: a login that failed and the kind of a rate limit stand in headers. */
function problem({ status, headers, body }: HttpAnswer<unknown>): VendorProblem {
  const login = loginIn(headers);
  const sentences = sentencesIn(body);
  return {
    requestId: headers["atl-traceid"] ?? headers["x-arequestid"],
    reason: login ?? headers["ratelimit-reason"],
    ...(sentences.length > 0 && { message: sentences.join("; ") }),
    ...(login !== undefined && { message: logins[login] }),
    // A stranger's write that was answered with success was done.
    ...(login !== undefined && status < 300 && { mayHaveApplied: true }),
  };
}

/**
 * Whether Jira itself, which knows the account, says that it has no such thing, or does not show it. Its sentence is in
 * the account's language: the form is what tells it from a proxy's.
 */
export const saysMissing = (error: unknown): error is ConnectorError =>
  ConnectorError.is(error) &&
  error.status === 404 &&
  !Object.hasOwn(logins, error.reason ?? "") &&
  Array.isArray((answerOf(error)?.body as ErrorBody | undefined)?.errorMessages);

/** What `reading` brings; undefined when Jira has no such thing, or does not show it. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (saysMissing(error)) return undefined;
    throw error;
  }
}

/** Every write that Jira answers with 204, without a body. */
export const isEmpty = (body: unknown): boolean => body === undefined;
