import { type Handler, route, router } from "@reversi-connector/http/sandbox";
import * as comments from "./comments.ts";
import * as issues from "./issues.ts";
import * as search from "./search.ts";
import * as transitions from "./transitions.ts";
import { answered, callOf, type Endpoint, errorBody } from "./wire.ts";
import type { World } from "./world.ts";

const issue = "/rest/api/3/issue/:issue";
const endpoints: Readonly<Record<string, Endpoint>> = {
  "POST /rest/api/3/issue": issues.createIssue,
  [`GET ${issue}`]: issues.getIssue,
  [`DELETE ${issue}`]: issues.deleteIssue,
  [`GET ${issue}/changelog`]: issues.listChanges,
  [`GET ${issue}/comment`]: comments.listComments,
  [`POST ${issue}/comment`]: comments.addComment,
  [`GET ${issue}/comment/:comment`]: comments.getComment,
  [`DELETE ${issue}/comment/:comment`]: comments.deleteComment,
  [`GET ${issue}/transitions`]: transitions.listTransitions,
  [`POST ${issue}/transitions`]: transitions.runTransition,
  "GET /rest/api/3/search/jql": search.search,
  "GET /rest/api/3/search": search.removedSearch,
  "POST /rest/api/3/search": search.removedSearch,
  "GET /rest/api/3/myself": search.myself,
  "GET /rest/api/3/mypermissions": search.myPermissions,
};

/** Jira's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes = Object.entries(endpoints).map(([pattern, endpoint]) =>
    route(pattern, (request) => endpoint(callOf(world, request))),
  );
  const routed = router(routes, () => ({ status: 404, body: errorBody(404, "Not Found") }));
  return (request) => answered(world, request, () => routed(request));
}
