import { type Connector, ConnectorError } from "@reversi-connector/core";
import { path } from "@reversi-connector/http";
import { formsOf } from "../../src/index.ts";
import { toyTools } from "../toy/connector.ts";
import { token } from "../toy/sandbox.ts";
import { connectToy, healthyHashes, subjectOf } from "../toy/subject.ts";
import { calling, type Mutant, onLenient, published, withRun, withTools, wrapped } from "./mutant.ts";

const notify = ["toy.notify"];
const create = ["toy.delete_item", "toy.create_item"];
type Leak = (error: Error, text: string) => void;

/** Lets something out where the good connector has just taken the credential out. */
const leaking = (name: string, leak: Leak, text = token): Mutant =>
  wrapped({ name, fails: ["redaction"], tools: notify }, (toy: Connector) =>
    calling(toy, "toy.notify", (good, args, context) =>
      good(args, context).catch((error: Error) => {
        if (error.message.includes("[redacted]")) leak(error, text);
        throw error;
      }),
    ),
  );

const asDetail: Leak = (error, text) => Object.assign(error, { detail: text });
const places: Readonly<Record<string, Leak>> = {
  "in its message": (error, text) => {
    error.message += text;
  },
  "in its stack": (error, text) => {
    error.stack = `${error.stack} ${text}`;
  },
  "in its cause": (error, text) => {
    error.cause = { request: { headers: [["authorization", text]] } };
  },
  "where only a debugger looks": (error, text) =>
    Object.defineProperty(error, "request", {
      value: { headers: { authorization: text } },
      enumerable: false,
    }),
  "in a property that is a symbol": (error, text) => Object.assign(error, { [Symbol("headers")]: text }),
  "in its reason": (error, text) => Object.assign(error, { reason: text }),
  "on the terminal": (_, text) => console.error("debug:", text),
  "on standard error": (_, text) => void process.stderr.write(`debug: ${text}\n`),
};

/** Broken with secrets, permissions and manifests. */
export const secretMutants: readonly Mutant[] = [
  ...formsOf(token).map(({ name, text }) => leaking(`a leak of the credential, ${name}`, asDetail, text)),
  ...Object.entries(places).map(([place, leak]) => leaking(`an error with the credential ${place}`, leak)),
  leaking("half the credential, cut off before it was redacted", asDetail, token.slice(0, 16)),
  published(
    {
      name: "CK-01: a credential that nobody declared secret, so that nothing is redacted",
      fails: ["redaction"],
      tools: notify,
    },
    {
      settings: {
        TOY_TOKEN: { option: "token", description: "The token." },
        TOY_BASE_URL: { option: "baseUrl", description: "Where it is." },
      },
    },
  ),
  wrapped({ name: "a result with the credential", fails: ["redaction"], tools: ["toy.get_item"] }, (toy) =>
    calling(toy, "toy.get_item", async (good, args, context) => ({
      ...((await good(args, context)) as object),
      title: Buffer.from(`toy:${token}`).toString("base64"),
    })),
  ),
  withTools(
    { name: "the credential in an address", fails: ["redaction"], tools: ["toy.get_item"] },
    {
      getItem: {
        async run(call) {
          await call.client.read({ path: path`/items`, query: { reference: token } });
          return toyTools.getItem.run(call as never);
        },
      },
    },
  ),
  withRun({ name: "the credential in a body", fails: ["redaction"], tools: notify }, "notify", (good, call) =>
    good({ ...call, args: { text: `${call.args.text} (${token})` } }),
  ),
  {
    name: "a connector that prints its credential",
    fails: ["redaction"],
    tools: notify,
    subject: subjectOf(
      (connect) => ({ ...connectToy()(connect), settings: { token: connect.credential } }) as Connector,
      healthyHashes,
    ),
  },
  withRun(
    { name: "a false “already gone”", fails: ["permission_denial"], tools: create },
    "deleteItem",
    (good, call) =>
      good(call).catch((error) => (error.status === 404 ? { already: true } : Promise.reject(error))),
  ),
  withTools(
    { name: "lost access that fulfils the goal", fails: ["permission_denial"], tools: create },
    {
      deleteItem: {
        holds: async ({ client, args }) => {
          try {
            await client.read({ path: path`/items/${args.id}` });
            return false;
          } catch (error) {
            if (ConnectorError.is(error) && error.status === 404) return true;
            throw error;
          }
        },
      },
    },
  ),
  withRun(
    { name: "a denial taken for success", fails: ["permission_denial"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => (error.status === 403 ? { notice: 1 } : Promise.reject(error))),
  ),
  withRun(
    { name: "a denial that is not told", fails: ["permission_denial"], tools: notify },
    "notify",
    (good, call) =>
      good(call).catch((error) => {
        throw error.status === 403 ? new ConnectorError("it did not work") : error;
      }),
  ),
  withRun(
    {
      name: "an undo that needs more rights than are listed",
      fails: ["permission_denial"],
      tools: ["toy.pay", "toy.refund"],
    },
    "refund",
    async (good, call) => {
      await call.client.read({ path: path`/payments/${call.args.payment_id}` });
      return good(call);
    },
  ),
  onLenient(
    { name: "a sandbox that checks no credential", fails: ["permission_denial", "sandbox"], tools: notify },
    { ignoresToken: true },
  ),
  onLenient(
    { name: "a sandbox that takes unknown fields", fails: ["sandbox"], tools: notify },
    { ignoresUnknownFields: true },
  ),
  wrapped(
    { name: "a schema changed without a new hash", fails: ["manifest_drift"], tools: notify },
    (toy) => ({
      ...toy,
      inputSchemas: {
        ...toy.inputSchemas,
        "toy.notify": { ...toy.inputSchemas["toy.notify"], description: "More." },
      },
    }),
  ),
  wrapped(
    { name: "a description changed without a new hash", fails: ["manifest_drift"], tools: notify },
    (toy) => ({
      ...toy,
      manifests: toy.manifests.map((manifest) => ({
        ...manifest,
        description: `${manifest.description} Or so.`,
      })),
    }),
  ),
  wrapped(
    { name: "an effect changed without a new hash", fails: ["manifest_drift"], tools: ["toy.delete_item"] },
    (toy) => ({
      ...toy,
      manifests: toy.manifests.map((manifest) =>
        manifest.tool === "toy.delete_item" ? { ...manifest, permission: "toy:everything" } : manifest,
      ),
    }),
  ),
  wrapped(
    { name: "another schema than was published", fails: ["manifest_drift"], tools: notify },
    (toy) => toy,
    { schemaHashes: { ...healthyHashes, "toy.notify": "0".repeat(64) } },
  ),
  wrapped(
    { name: "a published tool that is gone", fails: ["manifest_drift"], tools: ["toy.add_note"] },
    (toy) => toy,
    { schemaHashes: { ...healthyHashes, "toy.vanished": "0".repeat(64) } },
  ),
];
