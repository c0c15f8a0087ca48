import { askHolds, askLanded, callTool, type LostContext, leaving, type Surroundings } from "./call.ts";
import { InvalidArgumentsError } from "./errors.ts";
import { type Description, descriptionOf, type Manifest, manifestOf, nameOf } from "./manifest.ts";
import { type Redactor, redactor } from "./redact.ts";
import type { JsonSchema } from "./schema.ts";
import type { Connection, Context } from "./scope.ts";
import { checkOptions, type PackageFacts, type ReversiField } from "./settings.ts";
import type { Holds, Landed, MatchSource, Tool } from "./tool.ts";

type ByTool<Value> = Readonly<Record<string, Value>>;

/** A connector on its backend. Every path to it (code, MCP, `compensate`, the engine) goes through here. */
export interface Connector {
  readonly name: string;
  readonly version: string;
  readonly manifests: readonly Manifest[];
  readonly descriptions: readonly Description[];
  readonly inputSchemas: ByTool<JsonSchema>;
  /**
   * Each tool by its full name.
   * @throws InvalidArgumentsError, ConnectorError, ConflictError or EffectUncertainError, and nothing else
   */
  readonly tools: ByTool<(args: unknown, context?: Context) => Promise<unknown>>;
  /** For tools that can undo: whether the goal state is in place. Reads only. */
  readonly holds: ByTool<(args: unknown, context?: Context) => Promise<Holds>>;
  /** For writes that leave evidence: whether a call whose answer was lost took effect. Reads only. */
  readonly landed: ByTool<(args: unknown, context: LostContext) => Promise<Landed<unknown>>>;
  /**
   * Ends its connections.
   * @throws ConnectorError
   */
  close(): Promise<void>;
}

/** Options every connector takes. */
export interface CommonOptions {
  /** Milliseconds for one call, all its requests together; 30,000 when left out, 2,147,483,647 at most. */
  readonly timeoutMs?: number | undefined;
}

/** A connector before it has credentials: what it can do, and how to get it. */
export interface ConnectorDefinition<Options extends object> {
  readonly name: string;
  readonly version: string;
  readonly settings: ReversiField;
  readonly manifests: readonly Manifest[];
  readonly descriptions: readonly Description[];
  readonly inputSchemas: ByTool<JsonSchema>;
  /**
   * @throws InvalidArgumentsError naming the option that is missing or malformed, never its value
   * @throws ConnectorError when the connection cannot be set up
   */
  create(options: Options & CommonOptions): Connector;
}

/** Which options each connector takes in `allConnectors`; every connector package adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by module augmentation
export interface ConnectorOptions {}

export interface DefineOptions<Options extends object, Client, Reader> {
  /** `readPackage(import.meta.url)`: name, version and settings have one home, package.json. */
  readonly package: PackageFacts;
  /** False for a backend that only this user's own data lives in (MCP's `openWorldHint`). */
  readonly openWorld?: boolean;
  /** Shapes of the vendor's tokens: global regular expressions. */
  readonly tokenPatterns?: readonly RegExp[];
  /** Secrets inside options, such as the password of a connection string. */
  secretsIn?(options: Options): readonly string[];
  connect(options: Options, tools: { readonly redact: Redactor }): Connection<Client, Reader>;
  readonly tools: readonly Tool<Client>[];
}

const defaultTimeoutMs = 30_000;
/** Timers fire at once when they are set to more. */
const longestTimeoutMs = 2_147_483_647;

const propertyOf = (schema: JsonSchema | undefined, key: string): JsonSchema | undefined =>
  schema?.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;

/** The schema at a dotted path such as `result.previous.title`, or undefined. */
const schemaAt = (
  { input, output }: Tool,
  [from, first, ...keys]: readonly string[],
): JsonSchema | undefined => {
  const whole = from === "args" ? input : from === "result" ? output : undefined;
  return first === undefined ? undefined : [first, ...keys].reduce<JsonSchema | undefined>(propertyOf, whole);
};

const pathOf = (source: MatchSource): string => (typeof source === "string" ? source : source.overlaps);

/** What the compiler cannot see: tools referred to are this connector's, and edges given by name really exist. */
function checkReferences(connector: string, tools: readonly Tool[]): void {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size !== tools.length) throw new Error(`${connector}: two tools have one name`);
  for (const { name, compensation, input, requires = [] } of tools) {
    if (!name.startsWith(`${connector}.`)) throw new Error(`${name} is no tool of ${connector}`);
    if (compensation && byName.get(compensation.tool.name) !== compensation.tool) {
      throw new Error(
        `${name} names ${compensation.tool.name}, which is not one of the tools of ${connector}`,
      );
    }
    for (const { tool, match } of requires) {
      const earlier = byName.get(nameOf(tool));
      if (!earlier || (typeof tool !== "string" && tool !== earlier)) {
        throw new Error(`${name} names ${nameOf(tool)}, which is not one of the tools of ${connector}`);
      }
      for (const [own, source] of Object.entries(match)) {
        if (!propertyOf(input, own)) throw new Error(`${name} requires by ${own}, which it does not take`);
        if (!schemaAt(earlier, pathOf(source).split("."))) {
          throw new Error(`${name} requires by ${pathOf(source)}, which ${earlier.name} does not have`);
        }
      }
    }
  }
}

/** Without a prototype: whoever looks up a name that an agent gave finds a tool or nothing. */
function byTool<Value>(
  tools: readonly Tool[],
  member: (tool: Tool) => Value | undefined,
): Record<string, Value> {
  const members: Record<string, Value> = Object.create(null);
  for (const tool of tools) {
    const value = member(tool);
    if (value !== undefined) members[tool.name] = value;
  }
  return members;
}

/** Everything a connector publishes is derived here, from its package.json and its tool declarations. */
export function defineConnector<Options extends object, Client, Reader = Client>(
  given: DefineOptions<Options, Client, Reader>,
): ConnectorDefinition<Options> {
  const { openWorld = true, tokenPatterns = [] } = given;
  const { version, reversi } = given.package;
  const name = reversi.connector;
  const tools: readonly Tool[] = [...given.tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  checkReferences(name, tools);
  const published = {
    name,
    version,
    manifests: tools.map(manifestOf),
    descriptions: tools.map((tool) => descriptionOf(tool, openWorld)),
    inputSchemas: byTool(tools, ({ input }) => input),
  };

  const inside = (options: Options): readonly string[] => {
    try {
      return given.secretsIn?.(options) ?? [];
    } catch {
      // What a parser says of a text that it cannot read often repeats the text.
      throw new InvalidArgumentsError(
        `${name}: an option that holds a secret cannot be read; check its form`,
      );
    }
  };

  function create({ timeoutMs = defaultTimeoutMs, ...rest }: Options & CommonOptions): Connector {
    if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > longestTimeoutMs) {
      throw new InvalidArgumentsError(`${name}: timeoutMs must be an integer from 1 to ${longestTimeoutMs}`);
    }
    const { options, secrets } = checkOptions(reversi, rest as unknown as Options);
    const values = [...secrets, ...inside(options)];
    const redact = { messages: redactor({ values, patterns: tokenPatterns }), data: redactor({ values }) };
    const cleaned = (error: unknown) => leaving(error, name, redact, { writing: false });
    const connect = () => {
      try {
        return given.connect(options, { redact: redact.messages });
      } catch (error) {
        throw cleaned(error);
      }
    };
    const connection = connect();
    const around: Surroundings = { connection, ...redact, timeoutMs };
    return {
      ...published,
      tools: byTool(
        tools,
        (tool) =>
          (args: unknown, context: Context = {}) =>
            callTool(tool, around, args, context),
      ),
      holds: byTool(
        tools,
        (tool) =>
          tool.holds && ((args: unknown, context: Context = {}) => askHolds(tool, around, args, context)),
      ),
      landed: byTool(
        tools,
        (tool) =>
          tool.landed && ((args: unknown, context: LostContext) => askLanded(tool, around, args, context)),
      ),
      async close() {
        try {
          await connection.close();
        } catch (error) {
          throw cleaned(error);
        }
      },
    };
  }
  return { ...published, settings: reversi, create };
}
