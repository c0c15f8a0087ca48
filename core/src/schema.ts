/** JSON Schema (2020-12) as sent over the wire: the closed vocabulary in which every tool is described. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: { readonly pattern: string };
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

declare const describes: unique symbol;
declare const defaulted: unique symbol;

/** Marks, for the compiler only, the type of an optional value that has a default: handlers always see it. */
export interface Defaulted {
  readonly [defaulted]: never;
}

/** A plain JSON Schema that remembers, for the compiler only, the type it describes. */
export type Schema<T> = JsonSchema & { readonly [describes]?: T };
export interface ObjectSchema<T> extends JsonSchema {
  readonly type: "object";
  readonly [describes]?: T;
}
export type Static<S> = S extends { readonly [describes]?: infer T } ? T : never;

/** Arguments as a handler receives them: defaults filled in, so those keys are always there. */
export type Settled<T> = Defaulted extends T[keyof T]
  ? Flat<
      {
        [K in keyof T as Defaulted extends T[K] ? never : K]: T[K];
      } & {
        [K in keyof T as Defaulted extends T[K] ? K : never]-?: Exclude<T[K], Defaulted | undefined>;
      }
    >
  : T;

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

type Fields = Readonly<Record<string, JsonSchema>>;
type Flat<T> = { [K in keyof T]: T[K] } & {};

interface StringRules {
  readonly minLength?: number;
  readonly maxLength?: number;
  /** ECMAScript regular expression; anchor both ends. */
  readonly pattern?: string;
}
interface IntegerRules {
  /** 0 when left out (for a key that may be text or a number, the smallest safe integer). */
  readonly minimum?: number;
  /** The largest safe integer when left out. */
  readonly maximum?: number;
}
interface ArrayRules {
  readonly minItems?: number;
  readonly maxItems?: number;
}
interface MapRules {
  /** ECMAScript regular expression that each key matches; anchor both ends. */
  readonly keys?: string;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}
interface WithDefault<T> {
  readonly default: T;
}

const described = (description: string | undefined) => (description === undefined ? {} : { description });

function string(description: string, rules: StringRules & WithDefault<string>): Schema<string | Defaulted>;
function string(description?: string, rules?: StringRules): Schema<string>;
function string(description?: string, rules: StringRules = {}): JsonSchema {
  return { type: "string", ...described(description), ...rules };
}

function integer(description: string, rules: IntegerRules & WithDefault<number>): Schema<number | Defaulted>;
function integer(description?: string, rules?: IntegerRules): Schema<number>;
function integer(description?: string, rules: IntegerRules = {}): JsonSchema {
  return {
    type: "integer",
    ...described(description),
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    ...rules,
  };
}

function boolean(description: string, rules: WithDefault<boolean>): Schema<boolean | Defaulted>;
function boolean(description?: string): Schema<boolean>;
function boolean(description?: string, rules: Partial<WithDefault<boolean>> = {}): JsonSchema {
  return { type: "boolean", ...described(description), ...rules };
}

function oneOf<const V extends string>(
  values: readonly V[],
  description: string,
  rules: WithDefault<NoInfer<V>>,
): Schema<V | Defaulted>;
function oneOf<const V extends string>(values: readonly V[], description?: string): Schema<V>;
function oneOf(
  values: readonly string[],
  description?: string,
  rules: Partial<WithDefault<string>> = {},
): JsonSchema {
  return { type: "string", ...described(description), enum: values, ...rules };
}

/** Builds schemas. Every value it returns is plain JSON Schema: no library runs behind it. */
export const s = {
  string,
  integer,
  boolean,
  oneOf,
  /** A key that may be text or a number; each rule holds for the kind it speaks of. */
  stringOrInteger: (
    description?: string,
    rules: StringRules & IntegerRules = {},
  ): Schema<string | number> => ({
    type: ["string", "integer"],
    ...described(description),
    minimum: -Number.MAX_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...rules,
  }),
  /** Any JSON value. */
  json: (description?: string): Schema<Json> => ({ ...described(description) }),
  array: <T>(items: Schema<T>, description?: string, rules: ArrayRules = {}): Schema<T[]> => ({
    type: "array",
    ...described(description),
    items,
    ...rules,
  }),
  /** An object with free keys and values of one kind. */
  map: <T>(
    values: Schema<T>,
    description?: string,
    { keys, ...rules }: MapRules = {},
  ): Schema<Record<string, T>> => ({
    type: "object",
    ...described(description),
    additionalProperties: values,
    ...(keys !== undefined && { propertyNames: { pattern: keys } }),
    ...rules,
  }),
  /** `null` besides what `inner` allows; description and default move outwards. */
  nullable: <T>({ description, default: value, ...inner }: Schema<T>): Schema<T | null> => ({
    ...described(description),
    anyOf: [inner, { type: "null" }],
    ...(value !== undefined && { default: value }),
  }),
  /** Required fields first, optional fields second. Nothing else may be there. Says nothing of what is required when nothing is. */
  object: <R extends Fields, O extends Fields = Record<never, never>>(
    required: R,
    optional?: O,
    description?: string,
  ): ObjectSchema<Flat<{ [K in keyof R]: Static<R[K]> } & { [K in keyof O]?: Static<O[K]> }>> => ({
    type: "object",
    ...described(description),
    properties: { ...required, ...optional },
    ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
    additionalProperties: false,
  }),
};
