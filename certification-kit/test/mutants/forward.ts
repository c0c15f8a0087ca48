import { ConnectorError, EffectUncertainError } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";
import { toyTools } from "../toy/connector.ts";
import { connectToy, healthyHashes, subjectOf } from "../toy/subject.ts";
import { calling, type Mutant, withRun, withTools, wrapped } from "./mutant.ts";

const statusOf = (error: unknown) => (ConnectorError.is(error) ? error.status : undefined);
const [notify, pay] = [["toy.notify"], ["toy.pay"]];

/** Broken on the way forward. */
export const forwardMutants: readonly Mutant[] = [
  withRun(
    { name: "a read that leaves a trace", fails: ["forward_success"], tools: ["toy.get_item"] },
    "getItem",
    async (good, call) => {
      await call.client.write({ method: "POST", path: path`/items/one/notes`, json: { text: "seen" } });
      return good(call);
    },
  ),
  withRun(
    { name: "a call that says done and does nothing", fails: ["forward_success"], tools: notify },
    "notify",
    async () => ({ notice: 1 }),
  ),
  wrapped({ name: "a result that is no JSON", fails: ["forward_success"], tools: notify }, (toy) =>
    calling(toy, "toy.notify", async (good, args, context) => ({
      ...((await good(args, context)) as object),
      at: new Date(),
    })),
  ),
  withRun(
    { name: "a refusal taken for success", fails: ["forward_failure"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => (statusOf(error) === 422 ? { notice: 1 } : Promise.reject(error))),
  ),
  withRun(
    { name: "an error that keeps the status to itself", fails: ["forward_failure"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        throw statusOf(error) === 422 ? new ConnectorError("it did not work") : error;
      }),
  ),
  withRun(
    { name: "a refusal that claims too much", fails: ["forward_failure"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        const status = statusOf(error);
        throw status === 409 ? new ConnectorError(error.message, { status, mayHaveApplied: true }) : error;
      }),
  ),
  withRun(
    { name: "a rate limit taken for success", fails: ["forward_failure"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => (statusOf(error) === 429 ? { notice: 1 } : Promise.reject(error))),
  ),
  withRun(
    { name: "a made-up id", fails: ["retry"], tools: ["toy.add_note"] },
    "addNote",
    async (_, { client, args }) => {
      const { body } = await client.write({
        method: "POST",
        path: path`/items/${args.id}/notes`,
        json: { text: args.text },
      });
      return { note_id: body.id ?? 1000 };
    },
  ),
  wrapped({ name: "arguments that nobody looks at", fails: ["forward_failure"], tools: notify }, (toy) =>
    calling(toy, "toy.notify", (good, args, context) =>
      good({ text: String((args as { text: unknown }).text) }, context),
    ),
  ),
  withRun(
    { name: "a refusal after a write", fails: ["forward_failure"], tools: ["toy.set_title"] },
    "setTitle",
    (good, call) =>
      good(call).catch(async (error) => {
        if (statusOf(error) === 422) {
          await call.client.write({
            method: "POST",
            path: path`/notices`,
            json: { text: "failed" },
            as: "none",
          });
        }
        throw error;
      }),
  ),
  withRun(
    { name: "a key of the connector's own", fails: ["duplicate_call"], tools: pay },
    "pay",
    async (_, { client, args, idempotencyKey }) => {
      const { body } = await client.write({
        method: "POST",
        path: path`/payments`,
        headers: { "idempotency-key": `${Math.random()}` },
        json: { amount: args.amount, reference: idempotencyKey },
        expect: ["id"],
      });
      return { payment_id: body.id };
    },
  ),
  withRun(
    { name: "one key for all calls alike", fails: ["duplicate_call"], tools: pay },
    "pay",
    async (_, { client, args, idempotencyKey }) => {
      const { body } = await client.write({
        method: "POST",
        path: path`/payments`,
        headers: { "idempotency-key": `pay ${args.amount}` },
        json: { amount: args.amount, reference: idempotencyKey },
        expect: ["id"],
      });
      return { payment_id: body.id };
    },
  ),
  withRun(
    {
      name: "an undo that fails when called by itself on what is gone",
      fails: ["duplicate_call"],
      tools: ["toy.delete_item", "toy.create_item"],
    },
    "deleteItem",
    async (good, call) => {
      const done = await good(call);
      if (done.already && call.args.expected === undefined) throw new ConnectorError("it is gone");
      return done;
    },
  ),
  withRun({ name: "a blind retry", fails: ["retry"], tools: notify }, "notify", (good, call) =>
    good(call).catch((error) => {
      if (!EffectUncertainError.is(error) || call.signal.aborted) throw error;
      return good(call);
    }),
  ),
  withRun(
    { name: "a blind retry after a breakdown", fails: ["retry"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => (statusOf(error) === 503 ? good(call) : Promise.reject(error))),
  ),
  withRun(
    { name: "a lost answer counted as failed", fails: ["retry"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        const lost = EffectUncertainError.is(error) && !call.signal.aborted;
        throw lost ? new ConnectorError(error.message) : error;
      }),
  ),
  withRun(
    { name: "a refused connection counted as lost", fails: ["retry"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        throw /nothing was sent/.test(String(error)) ? new EffectUncertainError("who knows") : error;
      }),
  ),
  withRun(
    { name: "a breakdown counted as nothing done", fails: ["retry"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        throw statusOf(error) === 503 ? new ConnectorError(error.message, { status: 503 }) : error;
      }),
  ),
  withRun(
    { name: "a success without proof", fails: ["retry"], tools: ["toy.add_note"] },
    "addNote",
    async (_, { client, args }) => {
      const { body } = await client.write({
        method: "POST",
        path: path`/items/${args.id}/notes`,
        json: { text: args.text },
      });
      return { note_id: body.id ?? 1 };
    },
  ),
  withRun(
    { name: "a read that pretends", fails: ["retry"], tools: ["toy.get_item"] },
    "getItem",
    (good, call) =>
      good(call).catch((error) =>
        error.status === 500 ? { id: call.args.id, title: "Unknown", version: 0 } : Promise.reject(error),
      ),
  ),
  {
    name: "no timeout",
    fails: ["timeout"],
    tools: notify,
    subject: subjectOf((connect) => connectToy()({ ...connect, timeoutMs: 60_000 }), healthyHashes),
  },
  withRun(
    { name: "a timeout counted as failed", fails: ["timeout"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        const over = EffectUncertainError.is(error) && call.signal.aborted;
        throw over ? new ConnectorError(`gave up: ${error.message}`) : error;
      }),
  ),
  withRun(
    { name: "a timeout taken for success", fails: ["timeout"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => (call.signal.aborted ? { notice: 1 } : Promise.reject(error))),
  ),
  withTools(
    {
      name: "a schema that core and JSON Schema read differently",
      fails: ["forward_success"],
      tools: notify,
    },
    {
      notify: {
        input: {
          ...toyTools.notify.input,
          additionalProperties: false,
          allOf: [{ required: ["more"] }],
        } as never,
      },
    },
  ),
];
