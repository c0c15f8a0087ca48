import { token } from "../src/sandbox/wire.ts";
import { bench } from "./bench.ts";

/** Speaks to the sandbox without the connector. */
async function server() {
  const on = await bench();
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    changes: Record<string, string | undefined> = {},
  ) => {
    const given = { authorization: `Bearer ${token}`, "content-type": "application/json", ...changes };
    const headers = Object.entries(given).filter(([, value]) => value !== undefined) as [string, string][];
    const response = await fetch(`${on.backend.address}${path}`, {
      ...{ method, headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  };
  return { ...on, ask };
}
type Ask = Parameters<Awaited<ReturnType<typeof server>>["ask"]>;

const apps = "/apis/apps/v1/namespaces/prod/deployments";
const maps = "/api/v1/namespaces/prod/configmaps";
const merge = { "content-type": "application/merge-patch+json" };
const jsonPatch = { "content-type": "application/json-patch+json" };
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });

test.each<[string, Ask, number, string]>([
  ["no credential", ["GET", `${apps}/web`, undefined, { authorization: undefined }], 403, "Forbidden"],
  [
    "another credential",
    ["GET", `${apps}/web`, undefined, { authorization: "Bearer x" }],
    401,
    "Unauthorized",
  ],
  ["a deployment that is not there", ["GET", `${apps}/nope`], 404, "NotFound"],
  [
    "a patch as plain JSON",
    ["PATCH", `${apps}/web/scale`, { spec: { replicas: 5 } }],
    415,
    "UnsupportedMediaType",
  ],
  ["a negative count", ["PATCH", `${apps}/web/scale`, { spec: { replicas: -1 } }, merge], 422, "Invalid"],
  [
    "a count that is a text",
    ["PATCH", `${apps}/web/scale`, { spec: { replicas: "x" } }, merge],
    422,
    "Invalid",
  ],
  ["another uid", ["PATCH", `${apps}/web/scale`, { metadata: { uid: "zzz" } }, merge], 409, "Conflict"],
  [
    "an old version",
    ["PATCH", `${apps}/web/scale`, { metadata: { resourceVersion: "1" } }, merge],
    409,
    "Conflict",
  ],
  [
    "a test that fails",
    ["PATCH", `${apps}/web/scale`, [{ op: "test", path: "/spec/replicas", value: 9 }], jsonPatch],
    ...([422, "Invalid"] as const),
  ],
  [
    "a zero that is replaced",
    ["PATCH", `${apps}/idle/scale`, [{ op: "replace", path: "/spec/replicas", value: 9 }], jsonPatch],
    ...([422, "Invalid"] as const),
  ],
  [
    "an unknown field of a scale",
    ["PATCH", `${apps}/web/scale?fieldValidation=Strict`, { spec: { replica: 5 } }, merge],
    ...([400, "BadRequest"] as const),
  ],
  [
    "an unknown field of a deployment",
    ["PATCH", `${apps}/web?fieldValidation=Strict`, { spec: { templates: {} } }, merge],
    ...([400, "BadRequest"] as const),
  ],
  ["a broken body", ["POST", maps, "{"], 400, "BadRequest"],
  [
    "a form",
    ["POST", maps, "a=b", { "content-type": "application/x-www-form-urlencoded" }],
    415,
    "UnsupportedMediaType",
  ],
  [
    "an unknown field",
    ["POST", `${maps}?fieldValidation=Strict`, named("a", { dta: {} })],
    400,
    "BadRequest",
  ],
  ["a number as a text", ["POST", maps, named("a", { data: { a: 1 } })], 400, "BadRequest"],
  ["a name that is none", ["POST", maps, named("Bad_Name")], 422, "Invalid"],
  ["a key that is none", ["POST", maps, named("a", { data: { "a/b": "" } })], 422, "Invalid"],
  ["one key twice", ["POST", maps, named("a", { data: { a: "" }, binaryData: { a: "" } })], 422, "Invalid"],
  ["too much", ["POST", maps, named("a", { data: { a: "x".repeat(1_048_577) } })], 422, "Invalid"],
  ["a name that is taken", ["POST", maps, named("settings")], 409, "AlreadyExists"],
  ["an unknown namespace", ["POST", "/api/v1/namespaces/nons/configmaps", named("a")], 404, "NotFound"],
  [
    "another uid to delete",
    ["DELETE", `${maps}/settings`, { preconditions: { uid: "zzz" } }],
    409,
    "Conflict",
  ],
  [
    "an old version to delete",
    ["DELETE", `${maps}/settings`, { preconditions: { resourceVersion: "1" } }],
    409,
    "Conflict",
  ],
  [
    "a selector that is none",
    ["GET", "/api/v1/namespaces/prod/pods?labelSelector=%3D%3D"],
    400,
    "BadRequest",
  ],
  ["a cursor that is none", ["GET", "/api/v1/namespaces/prod/pods?continue=x"], 400, "BadRequest"],
])("%s is refused as Kubernetes refuses it, and nothing is changed", async (_, request, status, reason) => {
  const on = await server();
  const before = await on.state();
  const answer = await on.ask(...request);
  expect(answer).toMatchObject({ status, body: { kind: "Status", status: "Failure", reason, code: status } });
  expect(await on.state()).toEqual(before);
});

test("an unknown path is plain text, as of a server that knows no such route", async () => {
  const on = await server();
  expect(await on.ask("GET", "/apis/nothing/v1")).toEqual({ status: 404, body: "404 page not found\n" });
});

test("a patch that changes nothing gives no new version", async () => {
  const on = await server();
  const first = await on.ask("PATCH", `${apps}/web/scale`, { spec: { replicas: 5 } }, merge);
  const second = await on.ask("PATCH", `${apps}/web/scale`, { spec: { replicas: 5 } }, merge);
  expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  const zero = await on.ask("PATCH", `${apps}/web/scale`, { spec: { replicas: 0 } }, merge);
  expect(zero.body.spec).toEqual({});
});

test("without Strict an unknown field is dropped", async () => {
  const on = await server();
  expect(await on.ask("POST", maps, named("a", { dta: {} }))).toMatchObject({ status: 201 });
  expect(on.configMap("a")).not.toHaveProperty("dta");
});

test("a list of an unknown namespace is empty", async () => {
  const on = await server();
  expect(await on.ask("GET", "/api/v1/namespaces/nons/pods")).toMatchObject({
    ...{ status: 200, body: { kind: "PodList", items: [] } },
  });
});

test.each(["/version", "/api", "/apis", "/api/v1", "/apis/apps/v1", "/api/v1/namespaces/prod"])(
  "%s answers clients that ask what there is",
  async (path) => {
    const on = await server();
    expect((await on.ask("GET", path)).status).toBe(200);
  },
);
