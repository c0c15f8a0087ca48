import { type Call, type Endpoint, ok } from "./wire.ts";
import type { StoredPod } from "./world.ts";

type Test = (pod: StoredPod) => boolean;

/** `a=b,c!=d,e,!f`. Fails with 400 for anything else. */
function labelTests({ fail }: Call, selector: string): Test[] {
  return selector.split(",").map((part) => {
    const [, key = "", not, value] = /^!?([\w./-]+)(?:(!?=?=)([\w.-]*))?$/.exec(part.trim()) ?? [];
    if (key === "")
      return fail(
        400,
        "BadRequest",
        `unable to parse requirement: found '${part}', expected: !, identifier, or 'end of string'`,
      );
    const labelOf = ({ metadata }: StoredPod) => metadata.labels?.[key];
    if (not === undefined) return (pod) => (labelOf(pod) !== undefined) !== part.startsWith("!");
    return (pod) => (labelOf(pod) === value) !== not.startsWith("!");
  });
}

const fields: Readonly<Record<string, (pod: StoredPod) => string | undefined>> = {
  "metadata.name": ({ metadata }) => metadata.name,
  "metadata.namespace": ({ metadata }) => metadata.namespace,
  "spec.nodeName": ({ spec }) => spec.nodeName,
  "status.phase": ({ status }) => status.phase,
};
function fieldTests({ fail }: Call, selector: string): Test[] {
  return selector.split(",").map((part) => {
    const [, key = "", not = "=", value] = /^([\w.]+)(!?=?=)(.*)$/.exec(part) ?? [];
    const of = fields[key];
    if (!of)
      return fail(
        400,
        "BadRequest",
        `Unable to find "/v1, Resource=pods" that match label selector "", field selector "${selector}": field label not supported: ${key || part}`,
      );
    return (pod) => (of(pod) === value) !== not.startsWith("!");
  });
}

const cursorOf = (at: number) =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", start: at })).toString("base64url");

/** Where a page begins. Fails with 410 for a cursor that is too old, with 400 for one that is none. */
function startOf({ request, world, fail }: Call): number {
  const given = request.query.get("continue");
  if (!given) return 0;
  if (world.cursorsExpired) {
    return fail(
      410,
      "Expired",
      "The provided continue parameter is too old to display a consistent list result.",
    );
  }
  try {
    const { start } = JSON.parse(Buffer.from(given, "base64url").toString()) as { start: number };
    if (Number.isInteger(start)) return start;
  } catch {}
  return fail(400, "BadRequest", "continue key is not valid: illegal base64 data");
}

export const listPods: Endpoint = (call) => {
  call.need("list", "pods");
  const { request, world, namespace } = call;
  const [labels, wanted] = [request.query.get("labelSelector"), request.query.get("fieldSelector")];
  const tests = [...(labels ? labelTests(call, labels) : []), ...(wanted ? fieldTests(call, wanted) : [])];
  const found = world.pods.filter(
    (pod) => pod.metadata.namespace === namespace && tests.every((test) => test(pod)),
  );
  const start = startOf(call);
  const limit = Number(request.query.get("limit") ?? 0) || found.length;
  const end = start + limit;
  const rest = found.length - end;
  return ok({
    ...{ kind: "PodList", apiVersion: "v1" },
    metadata: {
      resourceVersion: String(world.version),
      ...(rest > 0 && { continue: cursorOf(end), ...(tests.length === 0 && { remainingItemCount: rest }) }),
    },
    items: found.slice(start, end),
  });
};
