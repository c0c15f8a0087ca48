import type { Connector } from "@reversi-connector/core";
import type { OpenApiOptions } from "./contract/openapi.ts";
import type { Contract } from "./contract.ts";
import type { Wire } from "./fault.ts";
import type { HttpSandbox, HttpWireOptions } from "./http-wire.ts";
import type { TcpProxy, TcpTarget } from "./tcp-proxy.ts";

/** A backend for one case: fresh, and nobody else's. */
export interface Backend {
  /** Where it is: a URL, a folder, a host with a port. */
  readonly address: string;
  /** Everything in it that a user could see, as JSON. */
  state(): unknown;
  close(): Promise<void>;
}

/** How a connector is to be made for one case. */
export interface Connect<B extends Backend> {
  readonly address: string;
  /** The subject's credential, or another one that the backend does not accept; "" where there is none. */
  readonly credential: string;
  /** The time limit of every call: the kit chooses it, short only where a timeout is the subject. */
  readonly timeoutMs: number;
  readonly backend: B;
}

/** What the kit hands to subjects, so that they need it for nothing but its types. */
export interface Kit {
  /** The wire of a sandbox made with `@reversi-connector/http/sandbox`. */
  http(sandbox: HttpSandbox, options?: HttpWireOptions): Wire;
  /** A contract from an OpenAPI description, 3.0 or 3.1, as JSON. */
  openApi(file: string, options?: OpenApiOptions): Promise<Contract>;
  /** A contract from a GraphQL schema, as SDL. */
  graphql(file: string, deviations?: Contract["deviations"]): Promise<Contract>;
  /** A proxy with faults, for backends that speak something else than HTTP. */
  tcpProxy(target: TcpTarget): Promise<TcpProxy>;
}

/** What a call is prepared with. */
export interface Arranging<B extends Backend> {
  readonly backend: B;
  /** Calls another tool of the connector, by its full name. */
  call<Result = Record<string, unknown>>(tool: string, args: object): Promise<Result>;
}
/** A call that was made. */
// biome-ignore lint/suspicious/noExplicitAny: a subject knows its own results
export interface Made<Args = any, Result = any> {
  readonly args: Args;
  readonly result: Result;
}
export type Given<B extends Backend> = object | ((arranging: Arranging<B>) => object | Promise<object>);

export type After<B extends Backend> =
  | ((earlier: Made, arranging: Arranging<B>) => object | Promise<object>)
  | string;

/** One good call of a tool, and what the checks need to know about it. */
export interface Plan<B extends Backend> {
  /** Tells the plans of one tool apart. */
  readonly title?: string;
  /** The arguments, or how they come about on a fresh backend. */
  readonly args: Given<B>;
  /** What must be true of the result besides its schema. @throws an Error that says what is wrong */
  expect?(made: Made, backend: B): unknown;
  /**
   * Changes what the call left, as somebody else would, in a way that its undo must not overwrite. Resolves to false
   * where the backend keeps others off just now: right before an undo's write that is as good as a conflict.
   */
  edit?(backend: B, made: Made): unknown;
  /** Arguments that the backend refuses. Needed where there is no wire. */
  readonly refused?: Given<B>;
  /** Keeps the undo from working until the returned function is called. Needed where there is no wire. */
  obstruct?(backend: B, made: Made): () => unknown;
  /**
   * What the manifest requires (an earlier tool, or one match of it: `"notes.move: path = args.from"`) → this tool's
   * arguments after such a step, or why two steps alone cannot show it. Made from the match when left out.
   */
  readonly after?: Readonly<Record<string, After<B>>>;
}

/**
 * A state after a rollback without what this residue explains. A text in its place says why no sandbox can show the
 * residue: the report repeats it as a risk.
 */
// biome-ignore lint/suspicious/noExplicitAny: a subject knows its own state
export type Explains = ((before: any, after: any) => unknown) | string;

/** Malformed twins of good requests. */
export type Twin =
  | "no_credential"
  | "wrong_credential"
  | "unknown_query"
  | "unknown_field"
  | "broken_body"
  | "content_type"
  | "wrong_id";

/** What a connector brings to its certification: plain data and functions. */
// biome-ignore lint/suspicious/noExplicitAny: whoever reads any subject does not know its backend
export interface Subject<B extends Backend = any> {
  connector(connect: Connect<B>): Connector;
  /** A fresh backend, strict as the real one. */
  backend(kit: Kit): Promise<B>;
  /** Where there is a network between: what can go wrong on it. */
  wire?(backend: B, kit: Kit): Wire;
  /** What the backend really checks. */
  readonly credential?: string;
  /** At least one for every tool. */
  readonly calls: Readonly<Record<string, Plan<B> | readonly Plan<B>[]>>;
  /** Every residue that a manifest declares, by its id. */
  readonly residue?: Readonly<Record<string, Explains>>;
  /** `listed`: only the permissions that the page lists; `none`: the credential sees nothing any more. */
  permit?(backend: B, access: "listed" | "none"): unknown;
  /** What the vendor has published about its API, found in a folder of such descriptions. */
  contract?(folder: string, kit: Kit): Promise<Contract>;
  /** The schema hashes that were published. */
  readonly schemaHashes?: Readonly<Record<string, string>>;
  /** Twins that the vendor does not refuse, and why; headers that it wants on every request. */
  readonly strictness?: {
    readonly accepts?: Readonly<Partial<Record<Twin, string>>>;
    readonly headers?: readonly string[];
  };
}
