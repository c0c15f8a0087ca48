import { connect as connectTo, createServer, type Socket } from "node:net";
import {
  type Connector,
  type ConnectorDefinition,
  checkValue,
  InvalidArgumentsError,
  isConnectorError,
  type JsonSchema,
  type Sandbox,
} from "@reversi-connector/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { fitting, seeded } from "../core/test/generator.ts";
import { connectorNames } from "./connectors.ts";
import { always } from "./fuzz.ts";

interface Backend {
  readonly connector: Connector;
  /** How much has reached the backend: requests, or bytes, or what a folder holds. */
  seen(): Promise<unknown>;
  close(): Promise<void>;
}
type Options = Readonly<Record<string, unknown>>;

/** Counts the bytes that go to a server. */
async function counting(target: URL) {
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server = createServer((near) => {
    const far = connectTo(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => other.destroy());
    }
    near.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  return {
    port,
    bytes: () => bytes,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function backendOf(name: string): Promise<Backend> {
  const { definition }: { definition: ConnectorDefinition<Options> } = await import(
    `../connectors/${name}/src/index.ts`
  );
  const { sandbox }: { sandbox(): Promise<Sandbox<Options> & { readonly requests?: readonly unknown[] }> } =
    await import(`../connectors/${name}/src/sandbox.ts`);
  const backend = await sandbox();
  const url = typeof backend.options["url"] === "string" ? new URL(backend.options["url"]) : undefined;
  const wire = url && (await counting(new URL(url)));
  if (url && wire) url.port = String(wire.port);
  const connector = definition.create({ ...backend.options, ...(url && { url: url.href }) });
  return {
    connector,
    seen: async () => backend.requests?.length ?? wire?.bytes() ?? backend.state(),
    async close() {
      await connector.close();
      await wire?.close();
      await backend.close();
    },
  };
}

/** Every place in a value, as the keys that lead there. */
function placesIn(value: unknown, way: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [way];
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [way, ...[...keys].flatMap((key) => placesIn((value as Options)[key], [...way, key]))];
}
const gone = Symbol("gone");
/** `value` with what stands at one place replaced, or taken out. */
function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.flatMap((item, at) => {
      if (at !== key) return [item];
      const next = replaced(item, rest, by);
      return next === gone ? [] : [next];
    });
  return Object.fromEntries(
    Object.entries(value as Options).flatMap(([name, inner]) => {
      if (name !== key) return [[name, inner]];
      const next = replaced(inner, rest, by);
      return next === gone ? [] : [[name, next]];
    }),
  );
}

const nasty = fc.constantFrom<unknown>(
  gone,
  undefined,
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1e300,
  2 ** 53,
  Number.NaN,
  "",
  " ",
  ".",
  "..",
  "../..",
  "a/b",
  "a//b",
  "%2e%2e",
  "a\u0000b",
  "\ud800",
  "é\n",
  "@",
  "HEAD",
  "x".repeat(5000),
  [],
  {},
  [[]],
  ["a"],
  { a: 1 },
  JSON.parse('{"__proto__":{"a":1}}'),
  new Date(0),
  new Map(),
  () => {},
  Symbol("x"),
  1n,
);
const anything = fc.oneof(
  nasty.filter((value) => value !== gone),
  fc.jsonValue({ maxDepth: 2 }),
  fc.anything({ maxDepth: 2 }),
);

/** Arguments that fit, more or less: by the tool's schema, then changed in at most one place. */
function argumentsFor(schema: JsonSchema) {
  const fit = fc.nat().map((seed) => fitting(schema, seeded(seed)));
  const mutated = fc
    .tuple(fit, fc.nat(), fc.oneof(nasty, fc.jsonValue({ maxDepth: 1 })), fc.constantFrom("at", "beside"))
    .map(([args, at, by, how]) => {
      const places = placesIn(args);
      const place = places[at % places.length] ?? [];
      if (how === "at" && by !== gone) return replaced(args, place, by);
      if (how === "at" && place.length > 0) return replaced(args, place, gone);
      return { ...(args as object), [`more${at % 3}`]: by };
    });
  return fc.oneof(
    { weight: 2, arbitrary: fit },
    { weight: 6, arbitrary: mutated },
    { weight: 2, arbitrary: anything },
  );
}

/** Any attempt to change it throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) frozen(inner);
  return value;
}

const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false });

describe.each(connectorNames)("%s", (name) => {
  let on: Backend;
  beforeAll(async () => {
    on = await backendOf(name);
  }, 60_000);
  afterAll(() => on?.close());

  const counted = { refused: 0, sent: 0 };
  always(
    "whatever the arguments, the call is made with valid ones, or refused by name before anything is sent",
    60,
    fc.asyncProperty(fc.nat(), fc.nat(), async (which, seed) => {
      const { connector } = on;
      const tools = Object.keys(connector.tools);
      const tool = tools[which % tools.length] as string;
      const schema = connector.inputSchemas[tool] as JsonSchema;
      const [args] = fc.sample(argumentsFor(schema), { numRuns: 1, seed });
      frozen(args);
      const problems = checkValue(schema, args);
      const json = fc.stringify(args);
      const before = await on.seen();
      const ended: { result?: unknown; error?: unknown } = await (
        connector.tools[tool]?.(args) ?? Promise.reject(new Error(tool))
      ).then(
        (result) => ({ result }),
        (error) => ({ error }),
      );
      const what = { tool, args: json, ended };
      if (InvalidArgumentsError.is(ended.error)) {
        expect({ ...what, seen: await on.seen() }).toEqual({ ...what, seen: before });
        const { problems: named, message } = ended.error;
        expect({
          ...what,
          named: named.length > 0 && named.every(({ at, rule }) => at !== "" && rule !== ""),
        }).toEqual({ ...what, named: true });
        expect(message.startsWith(tool) || named.some(({ at }) => message.includes(at))).toBe(true);
        counted.refused++;
      } else {
        expect({ ...what, problems }).toEqual({ ...what, problems: [] });
        expect({ ...what, fits: ajv.compile(schema)(args) }).toEqual({ ...what, fits: true });
        if ("error" in ended) {
          expect({ ...what, known: isConnectorError(ended.error) }).toEqual({ ...what, known: true });
          expect(String((ended.error as Error).message)).not.toContain("internal error");
        }
        counted.sent++;
      }
      expect(fc.stringify(args)).toBe(json);
    }),
  );
  test("(both ends were reached)", () => {
    expect(Math.min(counted.refused, counted.sent)).toBeGreaterThan(2);
  });
});
