import { hashOf } from "@reversi-connector/core";
import type { Bench, Case } from "../bench.ts";
import type { Check } from "../check.ts";
import { because, type ToolFacts } from "../facts.ts";
import { ended, told } from "../outcome.ts";
import { difference, same } from "../states.ts";

const keyed = ({ manifest }: ToolFacts) => manifest.guarantees?.idempotency !== undefined;
const idempotent = ({ manifest }: ToolFacts) => manifest.effect === "idempotent";
const concerned = (tool: ToolFacts) => idempotent(tool) || keyed(tool);

const key = hashOf("certification, one call twice");

/** Twice under one key: the second call changes nothing, whatever it answers by. */
const twice: Case = {
  name: "the same call with the same key a second time",
  async verify(world) {
    const first = await world.call({ idempotencyKey: key });
    const after = await world.state();
    const second = await ended(world.call({ idempotencyKey: key }));
    if ("error" in second) return `the second call must succeed, and ${told(second)}`;
    const change = difference(after, await world.state());
    if (change !== undefined) return `the second call had an effect of its own: ${change}`;
    const equal = idempotent(world.tool) || same(first, second.value);
    return equal ? undefined : `the second call had another result: ${told(second)}`;
  },
};

/** A tool that has an effect each time must have one under each key: two deliberate calls are never merged. */
const otherKey: Case = {
  name: "the same call with another key",
  async verify(world) {
    await world.call({ idempotencyKey: key });
    const after = await world.state();
    await world.call({ idempotencyKey: hashOf("certification, another call") });
    return same(after, await world.state()) ? "two deliberate calls were merged into one" : undefined;
  },
};

/** The engine's key, as it is, on every write. */
const sentKey = (header: string): Case => ({
  name: `the key in ${header}`,
  async verify(world) {
    await world.call({ idempotencyKey: key });
    const without = world.sent().find((sent) => sent.writes && sent.headers[header.toLowerCase()] !== key);
    return without && `${without.line} was sent without the key it was given`;
  },
});

export const duplicateCall: Check = {
  name: "duplicate_call",
  title: "Duplicate call",
  sentence: "The same call with the same key a second time has no further effect.",
  applies: ({ tools }) =>
    tools.some(concerned) || because("no tool is idempotent and none sends an idempotency key"),
  concerns: concerned,
  after: ["forward_success"],
  async verify({ tool, facts, all }: Bench) {
    const { header } = tool.manifest.guarantees?.idempotency ?? {};
    const cases = [twice];
    if (keyed(tool) && !idempotent(tool)) cases.push(otherKey);
    if (header !== undefined && facts.network) cases.push(sentKey(header));
    await all(cases);
  },
};
