import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { graphql } from "../src/contract/graphql.ts";
import { openApi } from "../src/contract/openapi.ts";
import { type Exchange, judge } from "../src/contract.ts";
import { certify, isCertified } from "../src/index.ts";
import { healthy } from "./toy/subject.ts";

const folder = mkdtempSync(join(tmpdir(), "reversi-contract-"));
afterAll(() => rmSync(folder, { recursive: true }));

const written = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const item = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "integer" }, tags: { type: "array", items: { type: "string" } } },
};
const described = (version: string, name: object = { type: "string" }) => ({
  openapi: version,
  info: { title: "Shelf", version: "1" },
  servers: [{ url: "https://shelf.example/api" }],
  paths: {
    "/items": {
      get: {
        parameters: [
          { name: "limit", in: "query", required: true, schema: { type: "integer" } },
          { name: "ids", in: "query", schema: { type: "array", items: { type: "integer" } } },
          { name: "X-Version", in: "header", required: true, schema: { type: "string", enum: ["2"] } },
        ],
        responses: {
          200: {
            content: {
              "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Item" } } },
            },
          },
        },
      },
      post: {
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/Item" } },
            "application/x-www-form-urlencoded": { schema: { $ref: "#/components/schemas/Item" } },
          },
        },
        responses: {
          "2XX": {},
          default: { content: { "application/json": { schema: { type: "object" } } } },
        },
      },
    },
    "/items/{id}": {
      get: {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
        responses: {
          200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Named" } } } },
        },
      },
    },
    "/files/{path}": { get: { responses: { 204: {} } } },
  },
  components: {
    schemas: {
      Item: item,
      Named: { type: "object", properties: { name } },
    },
  },
});

const good: Exchange = {
  method: "GET",
  path: "/api/items?limit=5&ids=1&ids=2",
  headers: { "x-version": "2" },
  body: "",
  malformed: false,
  answer: { status: 200, headers: { "content-type": "application/json" }, body: '[{"id":1,"tags":["a"]}]' },
};
const post = {
  ...good,
  method: "POST",
  path: "/api/items",
  headers: { "content-type": "application/json; charset=utf-8" },
  body: '{"id":1}',
  answer: { status: 201, headers: {}, body: "" },
};
const json = (status: number, body: string) => ({
  status,
  headers: { "content-type": "application/json" },
  body,
});

describe("an OpenAPI description", () => {
  const shelf = () => openApi(written("shelf.json", JSON.stringify(described("3.1.0"))));

  test.each<[string, Exchange, string[]]>([
    ["a good exchange", good, []],
    [
      "a good form",
      { ...post, headers: { "content-type": "application/x-www-form-urlencoded" }, body: "id=1&tags[]=a" },
      [],
    ],
    [
      "a path with slashes where one parameter is left",
      { ...good, path: "/api/files/a/b%20c", answer: { status: 204, headers: {}, body: "" } },
      [],
    ],
    ["an unknown path", { ...good, path: "/api/other" }, ["GET /api/other: it is not described"]],
    ["an unknown method", { ...good, method: "PUT" }, ["PUT /api/items: it is not described"]],
    ["a query that is missing", { ...good, path: "/api/items" }, ["GET /items: query limit is required"]],
    [
      "a query of the wrong type",
      { ...good, path: "/api/items?limit=x" },
      ["GET /items: query limit:  must be integer"],
    ],
    [
      "a query that nobody knows",
      { ...good, path: "/api/items?limit=1&x=1" },
      ["GET /items: query x is not described"],
    ],
    ["a header that is missing", { ...good, headers: {} }, ["GET /items: header X-Version is required"]],
    [
      "another value of a header",
      { ...good, headers: { "x-version": "3" } },
      ['GET /items: header X-Version:  must be equal to one of the allowed values ["2"]'],
    ],
    [
      "a path of the wrong type",
      { ...good, path: "/api/items/x", answer: json(200, "{}") },
      ["GET /items/{id}: path id:  must be integer"],
    ],
    ["a body that is missing", { ...post, body: "" }, ["POST /items: a body is required"]],
    ["a body of the wrong type", { ...post, body: '{"id":"1"}' }, ["POST /items: body: /id must be integer"]],
    [
      "a field that nobody knows",
      { ...post, body: '{"id":1,"x":1}' },
      ["POST /items: body: x is not described"],
    ],
    [
      "another media type",
      { ...post, headers: { "content-type": "text/plain" } },
      ["POST /items: body: the media type text/plain is not described"],
    ],
    [
      "a body that is broken",
      { ...post, body: "{" },
      ["POST /items: body: the body is not application/json"],
    ],
    [
      "a status that nobody knows",
      { ...good, answer: json(404, "{}") },
      ["GET /items: answer 404: the status is not described"],
    ],
    [
      "an answer of the wrong type",
      { ...good, answer: json(200, '[{"id":1},{"id":"2"}]') },
      ["GET /items: answer 200: /n/id must be integer"],
    ],
    [
      "an answer without its body",
      { ...good, answer: json(200, "") },
      ["GET /items: answer 200: a body is described, and there is none"],
    ],
    [
      "an answer with a field that nobody knows",
      { ...good, path: "/api/items/1", answer: json(200, '{"name":"a","x":1}') },
      ["GET /items/{id}: answer 200: x is not described"],
    ],
    [
      "a request that is malformed on purpose",
      { ...post, malformed: true, body: "{", answer: json(400, "{}") },
      [],
    ],
    [
      "the answer to one",
      { ...post, malformed: true, body: "{", answer: json(400, "[]") },
      ["POST /items: answer 400: / must be object"],
    ],
  ])("finds in %s what does not fit, and nothing else", async (_, exchange, found) => {
    expect((await shelf()).judge(exchange)).toEqual(found);
  });

  test("of version 3.0 means null by `nullable`", async () => {
    const old = await openApi(
      written(
        "old.json",
        JSON.stringify(described("3.0.3", { allOf: [{ type: "string" }], nullable: true })),
      ),
    );
    const named = { ...good, path: "/api/items/1", answer: json(200, '{"name":null}') };
    expect(old.judge(named)).toEqual([]);
  });
});

describe("a GraphQL schema", () => {
  const sdl = "type Query { item(id: ID!): Item } type Item { id: ID! size: Size } enum Size { BIG }";
  const asked = (query: string, data: unknown, variables?: object) => ({
    ...good,
    body: JSON.stringify({ query, variables }),
    answer: json(200, JSON.stringify({ data })),
  });
  const query = "query Q($id: ID!) { item(id: $id) { id size } }";
  const bySize = (size: unknown, more: object = {}) =>
    asked(query, { item: { id: "1", size, ...more } }, { id: "1" });

  test.each<[string, Exchange, string[]]>([
    ["a good exchange", bySize("BIG"), []],
    ["an alias", asked("{ other: item(id: 1) { id } }", { other: { id: "1" } }), []],
    [
      "an unknown field",
      asked("{ item(id: 1) { x } }", { item: null }),
      ['item: Cannot query field "x" on type "Item".'],
    ],
    [
      "a variable that is missing",
      asked(query, { item: null }),
      ['item: variables: Variable "$id" of required type "ID!" was not provided.'],
    ],
    ["an unknown value", bySize("HUGE"), ['item: data: Enum "Size" cannot represent value: "HUGE"']],
    [
      "a field that was not asked for",
      bySize("BIG", { x: 1 }),
      ["item: data: it holds what was not asked for, or in another form"],
    ],
    [
      "neither data nor errors",
      { ...bySize("BIG"), answer: json(500, "<html>") },
      ["item: answer 500: neither data nor errors with messages"],
    ],
  ])("finds in %s what does not fit", async (_, exchange, found) => {
    const contract = await graphql(written("schema.graphql", sdl));
    expect(contract.judge(exchange)).toEqual(found);
  });
});

test("a deviation explains what it names, and is a failure when nothing meets it any more", () => {
  const contract = {
    title: "",
    judge: ({ path }: Exchange) => [`${path}: odd`],
    deviations: { "/a*: odd": "known", "/b: odd": "old" },
  };
  const partly = judge(contract, { whole: false });
  const whole = judge(contract, { whole: true });
  for (const book of [partly, whole]) for (const path of ["/a1", "/c", "/c"]) book.take({ ...good, path });
  expect(partly.verdict()).toEqual({ exchanges: 3, wrong: ["/c: odd (2 times)"] });
  expect(whole.verdict().wrong).toEqual(["/c: odd (2 times)", "nothing deviates there any more: /b: odd"]);
});

test("a whole run is held against the contract, and fails by it alone", async () => {
  const seen: Exchange[] = [];
  const subject = {
    ...healthy,
    contract: async (from: string) => ({
      title: from,
      judge: (exchange: Exchange) => {
        seen.push(exchange);
        return exchange.answer.status === 401 ? ["no credential: not described"] : [];
      },
    }),
  };
  const certification = await certify(subject, { contracts: "a folder", tools: ["toy.get_item"] });
  const failed = [...certification.checks, ...certification.guarantees].filter(
    ({ status }) => status === "fail",
  );
  expect(failed).toMatchObject([
    { name: "contract", cases: seen.length, failures: [{ tool: "toy", case: "contract" }] },
  ]);
  expect(isCertified(certification)).toBe(false);
  expect(seen.some(({ malformed }) => malformed)).toBe(true);
  expect(seen.some(({ malformed }) => !malformed)).toBe(true);
}, 60_000);

test("a record of what others' software has shown fills the column of witnesses", async () => {
  const witness = { by: ["shelf-sdk 2.0.0", "shelf-emulator 1"], operations: 7 };
  const { guarantees } = await certify({ ...healthy, calls: {} }, { witness, tools: [] });
  expect(guarantees.find(({ name }) => name === "witness")).toMatchObject({
    ...{ status: "pass", cases: 7, by: "shelf-sdk 2.0.0, shelf-emulator 1" },
  });
});
