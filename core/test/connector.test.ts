import { type Context, defineConnector, s, type Tool, toolsFor } from "../src/index.ts";
import { box, failure, token } from "./box.ts";
import { burn, create, define, house, look, move, remove, unlike } from "./house.ts";

const elsewhere = toolsFor<object>("house");
const plain = {
  description: "Test.",
  permission: "p",
  input: s.object({ id: s.string() }),
  output: s.object({ id: s.string() }),
};
const run = async () => ({ id: "" });

describe("a connector is what its package and its tools say", () => {
  test("its name and version are those of package.json, its tools sorted by name", () => {
    expect(house).toMatchObject({ name: "house", version: "1.2.3", settings: { connector: "house" } });
    const names = ["burn_thing", "create_thing", "look", "move_thing", "remove_thing", "unlike"].map(
      (name) => `house.${name}`,
    );
    const made = house.create({});
    for (const { manifests, descriptions, inputSchemas } of [house, made]) {
      expect(manifests.map(({ tool }) => tool)).toEqual(names);
      expect(descriptions.map(({ name }) => name)).toEqual(names);
      expect(Object.keys(inputSchemas)).toEqual(names);
    }
    expect(Object.keys(made.tools)).toEqual(names);
  });
  test("only tools that can answer a question offer to", () => {
    const { holds, landed } = house.create({});
    expect(Object.keys(holds)).toEqual(["house.remove_thing", "house.unlike"]);
    expect(Object.keys(landed)).toEqual(["house.create_thing"]);
  });
  test("a name that JavaScript itself uses is no tool", () => {
    const { tools, holds, landed, inputSchemas } = house.create({});
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      for (const members of [tools, holds, landed, inputSchemas]) expect(members[name]).toBeUndefined();
    }
  });
  test("it ends its connection", async () => {
    let closed = 0;
    await box({ close: async () => void closed++ }).connector.close();
    expect(closed).toBe(1);
  });
});

describe("what the compiler cannot see is refused when the connector is defined", () => {
  test.each<[string, readonly Tool<object>[], string]>([
    ["two tools of one name", [look, look], "house: two tools have one name"],
    [
      "a tool of another connector",
      [toolsFor<object>("shed").readOnly("look", plain).run(run)],
      "shed.look is no tool of house",
    ],
    [
      "an undo that is not among the tools",
      [create],
      "house.create_thing names house.remove_thing, which is not one of the tools of house",
    ],
    [
      "an undo of the same name that is another one",
      [
        create,
        elsewhere
          .idempotent("remove_thing", { ...plain, target: ["id"] })
          .holds(async () => true)
          .run(run),
      ],
      "house.create_thing names house.remove_thing, which is not one of the tools of house",
    ],
    [
      "an edge to a tool that is not there",
      [unlike, move],
      "house.move_thing names house.create_thing, which is not one of the tools of house",
    ],
    [
      "an edge by name to a tool that is not there",
      [
        elsewhere
          .irreversible("a", { ...plain, requires: [{ tool: "house.b", match: { id: "args.id" } }] })
          .run(run),
      ],
      "house.a names house.b, which is not one of the tools of house",
    ],
    [
      "an edge by name to a tool of another connector",
      [
        elsewhere
          .irreversible("a", { ...plain, requires: [{ tool: "shed.look", match: { id: "args.id" } }] })
          .run(run),
      ],
      "house.a names shed.look, which is not one of the tools of house",
    ],
    ...[
      "args.nothing",
      "result.nothing",
      "result.id.deeper",
      "nothing",
      "",
      "args",
      "args.constructor",
      "result.__proto__",
    ].map((path): [string, readonly Tool<object>[], string] => [
      `an edge by name to ${path || "an empty path"}`,
      [
        burn,
        elsewhere
          .irreversible("a", { ...plain, requires: [{ tool: "house.burn_thing", match: { id: path } }] })
          .run(run),
      ],
      `house.a requires by ${path}, which house.burn_thing does not have`,
    ]),
  ])("%s", (_what, tools, message) => {
    expect(() => define(tools)).toThrow(message);
  });
  test("an edge to the tool itself, and to one declared further down, is fine", () => {
    const first = elsewhere
      .irreversible("a", {
        ...plain,
        requires: [
          { tool: "house.a", match: { id: { overlaps: "args.id" } } },
          { tool: "house.b", match: { id: "result.id" } },
        ],
      })
      .run(run);
    expect(() => define([first, elsewhere.readOnly("b", plain).run(run)])).not.toThrow();
  });
  test("the same tools in another order make the same connector", () => {
    const turned = define([look, burn, move, create, unlike, remove]);
    expect(turned.manifests).toEqual(house.manifests);
  });
});

describe("options", () => {
  test("that are missing or malformed are refused before anything is connected, without their value", async () => {
    let connected = 0;
    const connect = () => void connected++;
    const refused = await failure((async () => box({ connect }, { token: "short" }))());
    expect(refused).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "box: token (BOX_TOKEN) is too short for a credential (8 characters at least)",
    });
    expect(await failure((async () => box({ connect }, { token: "" }))())).toMatchObject({
      message: "box: token (BOX_TOKEN) is not set",
    });
    expect(connected).toBe(0);
  });
  test.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "1000"])(
    "a time limit of %p is refused",
    async (timeoutMs) => {
      expect(await failure((async () => box({}, { timeoutMs: timeoutMs as number }))())).toMatchObject({
        code: "INVALID_ARGUMENTS",
        message: "box: timeoutMs must be an integer from 1 to 2147483647",
      });
    },
  );
  test("the longest time limit really is one", async () => {
    const { read } = box({}, { timeoutMs: 2 ** 31 - 1 });
    expect(await read({ name: "a" })).toEqual({ text: "" });
  });

  const withUrl = (connect: (url: string) => void = () => {}) =>
    defineConnector<{ url: string }, object>({
      package: {
        name: "@test/db",
        version: "1.0.0",
        reversi: { connector: "db", settings: { DB_URL: { option: "url", description: "", secret: true } } },
      },
      secretsIn: ({ url }) => [decodeURIComponent(new URL(url).password)],
      connect({ url }) {
        connect(url);
        return { client: () => ({}), reader: () => ({}), close: async () => {} };
      },
      tools: [
        toolsFor<object>("db")
          .readOnly("echo", { ...plain, input: s.object({ id: s.string() }) })
          .run(async ({ args }) =>
            Promise.reject(new Error(`cannot find ${args.id}, pa%23ss, pa#ss, u:pa%23ss@h`)),
          ),
      ],
    });
  test("a secret inside an option is redacted in every form, like the option itself", async () => {
    const connector = withUrl().create({ url: "postgres://u:pa%23ss@h/db" });
    const call = async (id: string, context?: Context) =>
      failure(Promise.resolve(connector.tools["db.echo"]?.({ id }, context)));
    expect(await call("x")).toMatchObject({
      message: "db.echo: internal error: cannot find x, [redacted], [redacted], u:[redacted]@h",
    });
    expect(await call("is it pa#ss?")).toMatchObject({ code: "INVALID_ARGUMENTS" });
  });
  test.each(["postgres://u:pa#ss@h:x/db", "postgres://u:hunter22@h:99999/db", "not-a-url-hunter22"])(
    "an option that cannot be read is refused without a word of it: %s",
    async (url) => {
      const error = await failure((async () => withUrl().create({ url }))());
      expect(error).toMatchObject({
        code: "INVALID_ARGUMENTS",
        message: "db: an option that holds a secret cannot be read; check its form",
      });
      expect(JSON.stringify(error) + (error as Error).stack).not.toMatch(/hunter22|pa#ss/);
    },
  );
  test("what a driver says when it is set up is redacted", async () => {
    const definition = withUrl((url) => {
      throw new TypeError(`bad option in ${url}`);
    });
    const error = await failure((async () => definition.create({ url: "postgres://u:hunter22@h/db" }))());
    expect(error).toMatchObject({
      code: "FAILED",
      mayHaveApplied: false,
      message: "db: internal error: bad option in [redacted]",
    });
  });
  test("connectors of one definition know only their own credential", async () => {
    const other = "another-token-1234";
    const { put } = box();
    expect(await put({ name: "a", text: other })).toMatchObject({ about: other });
    expect(await failure(box({}, { token: other }).put({ name: "a", text: other }))).toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
    expect(await box({}, { token: other }).put({ name: "a", text: token })).toMatchObject({ about: token });
  });
});
