import { inspect } from "node:util";
import {
  ConflictError,
  ConnectorError,
  EffectUncertainError,
  InvalidArgumentsError,
  isConnectorError,
} from "../src/index.ts";
import { box, failure, token } from "./box.ts";

const good = { name: "a", text: "new" };
const encoded = encodeURIComponent(token);
const basic = Buffer.from(`me:${token}`).toString("base64").slice(8, 24);

describe("no credential leaves", () => {
  const everything = (error: unknown) => {
    const { stack, cause } = error as Error;
    return [
      String(error),
      stack,
      inspect(cause),
      inspect(error, { depth: 9, showHidden: true }),
      JSON.stringify(error),
      JSON.stringify(Object.entries(error as object)),
    ].join("\n");
  };
  const spoken = `${token} ${encoded} ${Buffer.from(`me:${token}`).toString("base64")} vendor_abc`;
  const cause = Object.assign(new Error(spoken), { headers: { authorization: token }, input: spoken });
  test.each<[string, unknown]>([
    ["an unknown error", Object.assign(new Error(spoken, { cause }), { input: spoken, request: { token } })],
    ["a text", spoken],
    ["an object", { message: spoken }],
    [
      "InvalidArgumentsError",
      new InvalidArgumentsError(spoken, { problems: [{ at: spoken, rule: spoken }] }),
    ],
    [
      "ConnectorError",
      new ConnectorError(spoken, {
        reason: spoken,
        requestId: spoken,
        mayHaveApplied: true,
        expectedResult: { old: spoken },
      }),
    ],
    ["ConflictError", new ConflictError(spoken, { expected: spoken, found: { [spoken]: [spoken] } })],
    [
      "EffectUncertainError",
      new EffectUncertainError(spoken, { idempotencyKey: token, expectedResult: { old: spoken } }),
    ],
    ["an error with a cause", Object.assign(new ConnectorError(spoken), { cause })],
  ])("in %s", async (_kind, thrown) => {
    const { put, read } = box({
      put: async () => Promise.reject(thrown),
      read: async () => Promise.reject(thrown),
    });
    for (const error of [await failure(put(good)), await failure(read({ name: "a" }))]) {
      expect(isConnectorError(error)).toBe(true);
      const all = everything(error);
      expect(all).toMatch("[redacted]");
      for (const secret of [token, encoded, basic, "vendor_abc"]) expect(all).not.toContain(secret);
    }
  });
  test("in a result: what the undo does not need is redacted", async () => {
    const { read } = box({ read: async () => ({ text: `shown ${token} and vendor_abc` }) });
    expect(await read({ name: "a" })).toEqual({ text: "shown [redacted] and vendor_abc" });
    const { put } = box({ put: async () => ({ name: "a", old: "vendor_abc", about: encoded }) });
    expect(await put(good)).toEqual({ name: "a", old: "vendor_abc", about: "[redacted]" });
  });
  test("in a result that the undo is made from: it is done, but cannot be handed out", async () => {
    const { put } = box({ put: async () => ({ name: "a", old: token, about: "" }) });
    const error = await failure(put(good));
    expect(error).toMatchObject({
      code: "EFFECT_UNCERTAIN",
      message: "box.put: done, but old holds the configured credential",
    });
    expect(everything(error)).not.toContain(token);
  });
  test("when the connection cannot be set up, or ended", async () => {
    const setUp = () =>
      box({
        connect: () => {
          throw Object.assign(new TypeError(`Invalid URL: ${token}`), { input: token });
        },
      });
    const refused = await failure((async () => setUp())());
    const { connector } = box({ close: async () => Promise.reject(new Error(`cannot end ${token}`)) });
    const unclosed = await failure(connector.close());
    for (const error of [refused, unclosed]) {
      expect(ConnectorError.is(error)).toBe(true);
      expect(everything(error)).toMatch("[redacted]");
      expect(everything(error)).not.toContain(token);
    }
  });
});
