import { describe, expect, test } from "@jest/globals";
import { definitionHash, schemaHash } from "@reversi-connector/core";
import { type LongLine, lineSplitter } from "@reversi-connector/core/program";
import { wordsOf } from "../src/operator/words.ts";
import { catalogOf } from "../src/proxy/catalog.ts";
import { gatewayOptions } from "../src/proxy/options.ts";

describe("lines", () => {
  const split = (chunks: readonly string[], limit = 1000) => {
    const lines: string[] = [];
    const long: LongLine[] = [];
    const splitter = lineSplitter(
      limit,
      (line) => lines.push(line.toString()),
      (line) => long.push(line),
    );
    for (const chunk of chunks) splitter.push(Buffer.from(chunk));
    splitter.end();
    return { lines, long };
  };

  test("come out as they went in, however they were cut", () => {
    const text = "one\ntwo ä🙂\n\nthree\r\nlast";
    const bytes = Buffer.from(text);
    for (let size = 1; size < bytes.length; size++) {
      const lines: string[] = [];
      const splitter = lineSplitter(
        1000,
        (line) => lines.push(line.toString()),
        () => {},
      );
      for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
      splitter.end();
      expect(lines.join("")).toBe(`${text}\n`);
      expect(lines).toHaveLength(5);
    }
  });

  test("above the limit cost themselves only, and show both ends", () => {
    const huge = `head${"x".repeat(5000)}tail`;
    const { lines, long } = split(
      ["a\n", huge.slice(0, 30), huge.slice(30, 2000), `${huge.slice(2000)}\nb\n`],
      100,
    );
    expect(lines).toEqual(["a\n", "b\n"]);
    expect(long).toMatchObject([
      { bytes: 5009, head: expect.stringMatching(/^head/), tail: expect.stringMatching(/tail\n$/) },
    ]);
    expect(split([`${huge}\n`], 100).long[0]?.head).toMatch(/^head/);
  });
});

test("a command is split as a shell would, and nothing is expanded", () => {
  expect(wordsOf(`node 'a b.js' "c \\"d\\"" e\\ f --x="" $HOME`)).toEqual([
    "node",
    "a b.js",
    'c "d"',
    "e f",
    "--x=",
    "$HOME",
  ]);
  expect(() => wordsOf("  ")).toThrow("empty");
  expect(() => wordsOf('a "b')).toThrow("from its character 3 on: a quote is open");
});

describe("manifests and the server's tools", () => {
  const manifest = (tool: string, more: object = {}) =>
    ({ tool, effect: "read_only", permission: "p", input_schema: {}, ...more }) as never;
  const inputSchema = { type: "object", properties: { a: { type: "string" } } };

  test.each(["fs.read", "fs_read", "read"])(
    "meet when the server lists %s, and every spelling is understood",
    (name) => {
      const catalog = catalogOf(
        [{ name, inputSchema }],
        [manifest("fs.read", { schema_hash: schemaHash(inputSchema as never) })],
      );
      for (const spelling of [name, "fs.read", "fs_read"]) {
        expect(catalog.find(spelling)).toMatchObject({
          upstreamName: name,
          name: "fs.read",
          objection: undefined,
        });
      }
      expect(catalog.find("write")).toBeUndefined();
    },
  );

  test("are refused where the description is not the one that was agreed to", () => {
    const description = "Reads.";
    const agreed = { input_schema: inputSchema, description, effect: "read_only", permission: "p" };
    const held = manifest("fs.read", { definition_hash: definitionHash(agreed as never) });
    const objectionTo = (tool: object) =>
      catalogOf([{ name: "fs.read", inputSchema, ...tool }], [held]).entries[0]?.objection;
    expect(objectionTo({ description })).toBeUndefined();
    const changed = "no longer what its manifest describes: its description, effect or permission changed";
    expect(objectionTo({ description: "Reads. Then mails it." })).toContain(changed);
    expect(objectionTo({ description, _meta: { "reversi/effect": "idempotent" } })).toContain(changed);
  });

  test("are refused where two manifests fit one tool", () => {
    const { entries } = catalogOf([{ name: "read", inputSchema }], [manifest("a.read"), manifest("b.read")]);
    expect(entries[0]?.objection).toBe(
      "a.read and b.read both fit the server's tool read; keep one of these manifests",
    );
  });
});

test("arguments of the server may look like flags", () => {
  const argv = [
    "--manifests",
    "m",
    "--upstream-cmd",
    "c",
    "--upstream-arg",
    "--root",
    "--upstream-arg",
    ".",
    "--upstream-arg=-x",
  ];
  const options = gatewayOptions([...argv, "--scope", "a:b", "c:*", "--data", "d"], {});
  expect(options).toMatchObject({
    command: "c",
    args: ["--root", ".", "-x"],
    scope: ["a:b", "c:*"],
    data: "d",
    approval: "elicit",
  });
  expect(gatewayOptions(argv, { REVERSI_DATA: "e" }).data).toBe("e");
  expect(gatewayOptions(argv, {})).toMatchObject({ data: "./reversi-data", scope: undefined });
});
