import { type Handler, route, router } from "@reversi-connector/http/sandbox";
import { listObjects } from "./list.ts";
import { deleteObject, getObject, insertObject } from "./objects.ts";
import { rewriteObject } from "./rewrite.ts";
import { callOf, complete, type Endpoint, errorBody, gate, isReply } from "./wire.ts";
import type { World } from "./world.ts";

const objects = "/storage/v1/b/:bucket/o";
const endpoints: Readonly<Record<string, Endpoint>> = {
  [`GET ${objects}`]: listObjects,
  [`GET ${objects}/:object`]: getObject,
  [`DELETE ${objects}/:object`]: deleteObject,
  [`POST /upload${objects}`]: insertObject,
  [`POST ${objects}/:sourceObject/rewriteTo/b/:destinationBucket/o/:destinationObject`]: rewriteObject,
};

/** Google's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes = Object.entries(endpoints).map(([pattern, endpoint]) =>
    route(pattern, (request) => endpoint(callOf(world, request, request.params["bucket"] ?? ""))),
  );
  const routed = router(routes, () => ({ status: 404, body: errorBody(404, "Not Found") }));
  return async (request) => {
    try {
      return complete(request, gate(world, request) ?? (await routed(request)));
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(request, reply);
    }
  };
}
