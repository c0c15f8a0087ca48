import type { Json, JsonSchema, ObjectSchema, Schema, Settled } from "./schema.ts";
import type { CallScope, Context } from "./scope.ts";

export type Effect = "read_only" | "reversible" | "compensable" | "idempotent" | "irreversible";

/** Dotted paths into a call whose value is always there and fits `T`: `"args.owner"`, `"result.previous.title"`. */
export type PathTo<T, From, Prefix extends string = ""> = {
  [K in keyof From & string]-?:
    | (From[K] extends T ? `${Prefix}${K}` : never)
    | (From[K] extends readonly unknown[]
        ? never
        : From[K] extends object
          ? string extends keyof From[K]
            ? never
            : PathTo<T, From[K], `${Prefix}${K}.`>
          : never);
}[keyof From & string];

/** A fixed value in the place of a path. */
export interface Const<T> {
  readonly const: T;
}

/** All arguments present: an optional source may feed an optional target, which is then left out when it is absent. */
type Present<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/**
 * One source for every required argument of the compensation: none missing, none unknown, each of a fitting type.
 * A source that may be absent feeds optional arguments only.
 */
export type ArgumentMap<To, Args, Result> = {
  readonly [K in keyof To]: undefined extends To[K]
    ? Source<Exclude<To[K], undefined>, Present<Args>, Present<Result>>
    : Record<never, never> extends Pick<To, K>
      ? Source<Exclude<To[K], undefined>, Present<Args>, Present<Result>>
      : Source<To[K], Args, Result>;
};
type Source<T, Args, Result> = (PathTo<T, { args: Args; result: Result }> & string) | Const<T>;

/** The same path, an ancestor or a descendant of it; for an array, of any of its elements. */
export interface Overlaps<Path extends string = string> {
  readonly overlaps: Path;
}
/** Where in the earlier step the value stands that one of this tool's own arguments must equal (as text) or overlap. */
export type MatchSource = string | Overlaps;

type Paths<T, Earlier> = PathTo<T, { args: ArgumentsOf<Earlier>; result: ResultOf<Earlier> }> & string;
type Sources<Args, Earlier> = {
  readonly [K in keyof Args]-?:
    | Paths<Exclude<Args[K], undefined>, Earlier>
    | Overlaps<Paths<string | readonly string[], Earlier>>;
};
type AtLeastOne<T> = { readonly [K in keyof T]: Partial<T> & Pick<T, K> }[keyof T];
type ByName<Args> = AtLeastOne<{ readonly [K in keyof Args]-?: MatchSource }>;

/** Which of a tool's own arguments name something in the earlier step; at least one. */
export type Match<Args, Earlier> = Earlier extends string
  ? ByName<Args>
  : [Reference] extends [Earlier]
    ? Readonly<Record<string, string>> // no tool is named: that is the error to report
    : AtLeastOne<Sources<Args, Earlier>>;

/** What a declaration needs to know of another tool. */
export interface Reference {
  readonly name: string;
  readonly input: ObjectSchema<object>;
  readonly output: Schema<unknown>;
}

type ArgumentsOf<T> = T extends { readonly input: ObjectSchema<infer Args> } ? Args : never;
type ResultOf<T> = T extends { readonly output: Schema<infer Result> } ? Result : never;

/** What keeps an undo from overwriting somebody else's change, and whether the server itself holds it. */
export interface Guard {
  readonly kind: "none" | "version" | "content";
  readonly server_side: boolean;
}
/** How the vendor repeats its answer to a repeated request. */
export interface Idempotency {
  readonly header: string;
  readonly window_hours: number;
  readonly replays_errors: boolean;
}
/** What is left behind after the undo. The id is stable. */
export interface Residue {
  readonly id: string;
  readonly text: string;
}

/** What every handler is given. */
export interface Call<Client, Args>
  extends Pick<CallScope, "signal" | "progress">,
    Pick<Context, "idempotencyKey"> {
  readonly client: Client;
  readonly args: Settled<Args>;
}

/** What a handler that writes is given: the operator's word on a conflict comes beside the arguments. */
export interface WriteCall<Client, Args> extends Call<Client, Args>, Pick<Context, "onConflict"> {}

/** What a write is given: `checkpoint` exists where the declaration names the fields it may hold. */
export type RunCall<Client, Args, Result, Kept extends keyof Result, Evidence extends string> = [
  Kept,
] extends [never]
  ? WriteCall<Client, Args>
  : CheckpointingCall<Client, Args, Pick<Result, Kept>, Evidence>;

export interface CheckpointingCall<Client, Args, Kept, Evidence extends string>
  extends WriteCall<Client, Args> {
  /** Makes part of the result, and what `landed` will need, durable before the write is sent. Await it. */
  checkpoint(checkpoint: Kept_<Kept, Evidence>): Promise<void>;
}
type Kept_<Kept, Evidence extends string> = {
  readonly result: Partial<Kept>;
  readonly evidence?: { readonly [K in Evidence]?: Json };
};

/** What `landed` is given about the call whose answer was lost. */
export interface LostCall<Reader, Args, Kept, Evidence extends string> extends Call<Reader, Args> {
  /** When the call began. */
  readonly since: Date;
  readonly checkpoint?: Kept_<Kept, Evidence> | undefined;
}

/** The evidence: it happened, it did not, or nothing proves either. */
export type Landed<Result> =
  | { readonly landed: true; readonly result: Result }
  | { readonly landed: false }
  | "unknown";
/** Whether the goal state is in place; "unknown" when the credential may not read it back. */
export type Holds = boolean | "unknown";

interface Declaration<Args extends object, Result> {
  /** One or two sentences for people and models; no instructions. */
  readonly description: string;
  /** For people; made from the name when left out: `create_issue` → "Create issue". */
  readonly title?: string;
  readonly permission: string;
  readonly input: ObjectSchema<Args>;
  readonly output: Schema<Result>;
}

/** Any tool, its own arguments and result kept so that others can refer to it. */
// biome-ignore-start lint/suspicious/noExplicitAny: a list of tools is heterogeneous by nature
export interface Tool<Client = any, Args extends object = any, Result = any, E extends Effect = Effect>
  extends Declaration<Args, Result> {
  readonly name: string;
  readonly effect: E;
  readonly additive?: true;
  readonly compensation?: {
    readonly tool: Tool<any, any, any, "idempotent">;
    readonly argument_map: Readonly<Record<string, string | Const<unknown>>>;
  };
  readonly target?: readonly string[];
  readonly guard?: Guard;
  readonly on_conflict?: true;
  readonly residue?: readonly Residue[];
  readonly idempotency?: Idempotency;
  readonly requires?: readonly {
    readonly tool: Reference | string;
    readonly match: Readonly<Record<string, MatchSource>>;
  }[];
  readonly checkpoint?: {
    readonly result: readonly string[];
    readonly evidence?: readonly string[];
    readonly guard?: string;
  };
  run(call: CheckpointingCall<Client, Args, Result, string>): Promise<Result>;
  landed?(call: LostCall<any, Args, Result, string>): Promise<Landed<Result>>;
  holds?(call: Call<any, Args>): Promise<Holds>;
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** What a tool must be to undo another one. */
export interface Undo<Client, Args extends object> extends Declaration<Args, unknown> {
  readonly effect: "idempotent";
  run(call: CheckpointingCall<Client, Args, never, never>): Promise<unknown>;
}

interface WriteDeclaration<
  Args extends object,
  Result,
  Kept extends keyof Result,
  Evidence extends string,
  Earlier extends readonly (Reference | string)[],
  To = never,
> extends Declaration<Args, Result> {
  /** Only adds, never changes or removes what was there; without it MCP clients are told "destructive". */
  readonly additive?: true;
  /** What is left behind after the undo. */
  readonly residue?: readonly Residue[];
  readonly idempotency?: Idempotency;
  /**
   * Earlier steps whose undo must wait for this one's. A tool that is declared further down, or this one itself, is
   * given by its name and then checked when the connector is defined.
   */
  readonly requires?: {
    readonly [I in keyof Earlier]: {
      readonly tool: Earlier[I];
      readonly match: Match<Args, NoInfer<Earlier[I]>>;
    };
  };
  /** What the handler makes durable before it writes. */
  readonly checkpoint?: {
    /** Fields of the result that are known by then. */
    readonly result: readonly Kept[];
    /** What `landed` needs besides. */
    readonly evidence?: readonly Evidence[];
    /** The argument of the compensation that makes the undo safe though nobody knows whether the write landed. */
    readonly guard?: keyof NoInfer<To> & string;
  };
}

interface CompensatedDeclaration<
  Args extends object,
  Result,
  Kept extends keyof Result,
  Evidence extends string,
  Earlier extends readonly (Reference | string)[],
  Client,
  To extends object,
> extends WriteDeclaration<Args, Result, Kept, Evidence, Earlier, To> {
  readonly compensation: {
    readonly tool: Undo<Client, To>;
    readonly argument_map: ArgumentMap<NoInfer<To>, Args, Result>;
  };
}

interface IdempotentDeclaration<
  Args extends object,
  Result,
  Kept extends keyof Result,
  Evidence extends string,
  Earlier extends readonly (Reference | string)[],
> extends WriteDeclaration<Args, Result, Kept, Evidence, Earlier> {
  /** The arguments that say what is worked on: later steps on one target settle first. */
  readonly target: readonly (keyof Args & string)[];
  /** None when left out. */
  readonly guard?: Guard;
  /** The operator may force a conflict. */
  readonly on_conflict?: true;
}

/** Refuses fields that the output schema does not have (a vendor's raw answer, say), and `any`. */
type NothingElse<Actual, Result> = 0 extends 1 & Actual
  ? never
  : { readonly [K in Exclude<keyof Actual, keyof Result>]: never };

/** The last step of a declaration: how to do it. */
export interface Ready<Client, Args extends object, Result, E extends Effect, Given> {
  run<Actual extends Result>(
    handler: (call: Given) => Promise<Actual & NothingElse<Actual, Result>>,
  ): Tool<Client, Args, Result, E>;
}
/** A write may say first how a lost answer is looked up. */
export interface Write<Client, Args extends object, Result, E extends Effect, Given, Lost>
  extends Ready<Client, Args, Result, E, Given> {
  landed(probe: (call: Lost) => Promise<Landed<Result>>): Ready<Client, Args, Result, E, Given>;
}
/** An idempotent tool says first how one sees that its goal is reached. */
export interface HoldsFirst<Client, Reader, Args extends object, Result, Given, Lost> {
  holds(
    check: (call: Call<Reader, Args>) => Promise<Holds>,
  ): Write<Client, Args, Result, "idempotent", Given, Lost>;
}

/** One method per effect. The effect decides what a declaration must say and what it must not. */
export interface Toolbox<Client, Reader = Client> {
  readOnly<Args extends object, Result>(
    name: string,
    declaration: Declaration<Args, Result>,
  ): Ready<Client, Args, Result, "read_only", Call<Client, Args>>;

  idempotent<
    Args extends object,
    Result,
    Kept extends keyof Result = never,
    Evidence extends string = never,
    const Earlier extends readonly (Reference | string)[] = [],
  >(
    name: string,
    declaration: IdempotentDeclaration<Args, Result, Kept, Evidence, Earlier>,
  ): HoldsFirst<
    Client,
    Reader,
    Args,
    Result,
    RunCall<Client, Args, Result, Kept, Evidence>,
    LostCall<Reader, Args, Pick<Result, Kept>, Evidence>
  >;

  irreversible<
    Args extends object,
    Result,
    Kept extends keyof Result = never,
    Evidence extends string = never,
    const Earlier extends readonly (Reference | string)[] = [],
  >(
    name: string,
    declaration: WriteDeclaration<Args, Result, Kept, Evidence, Earlier>,
  ): Write<
    Client,
    Args,
    Result,
    "irreversible",
    RunCall<Client, Args, Result, Kept, Evidence>,
    LostCall<Reader, Args, Pick<Result, Kept>, Evidence>
  >;

  readonly reversible: Compensated<Client, Reader, "reversible">;
  readonly compensable: Compensated<Client, Reader, "compensable">;
}
type Compensated<Client, Reader, E extends Effect> = <
  Args extends object,
  Result,
  To extends object,
  Kept extends keyof Result = never,
  Evidence extends string = never,
  const Earlier extends readonly (Reference | string)[] = [],
>(
  name: string,
  declaration: CompensatedDeclaration<Args, Result, Kept, Evidence, Earlier, Client, To>,
) => Write<
  Client,
  Args,
  Result,
  E,
  RunCall<Client, Args, Result, Kept, Evidence>,
  LostCall<Reader, Args, Pick<Result, Kept>, Evidence>
>;

/** Binds a connector's name and client once; its tools are then declared under their effect. */
export function toolsFor<Client, Reader = Client>(connector: string): Toolbox<Client, Reader> {
  const under = (effect: Effect) => (name: string, declaration: { readonly input: JsonSchema }) => {
    // Of a tool's input, unlike of what is inside, it is always said what is required.
    const input = { ...declaration.input, required: declaration.input.required ?? [] };
    return stage({ name: `${connector}.${name}`, effect, ...declaration, input });
  };
  return {
    readOnly: under("read_only"),
    idempotent: under("idempotent"),
    irreversible: under("irreversible"),
    reversible: under("reversible"),
    compensable: under("compensable"),
  } as unknown as Toolbox<Client, Reader>;
}

/** Which of the members are offered, and in which order, is the compiler's business alone. */
const stage = (tool: object) => ({
  holds: (holds: unknown) => stage({ ...tool, holds }),
  landed: (landed: unknown) => stage({ ...tool, landed }),
  run: (run: unknown) => ({ ...tool, run }),
});
