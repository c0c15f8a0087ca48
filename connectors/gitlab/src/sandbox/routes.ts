import {
  type Handler,
  type RoutedRequest,
  route,
  router,
  type SandboxReply,
} from "@reversi-connector/http/sandbox";
import * as branches from "./branches.ts";
import * as issues from "./issues.ts";
import { projectOf } from "./objects.ts";
import { apiOf, callOf, complete, type Endpoint, errorBody, gate, isReply } from "./wire.ts";
import type { Project, World } from "./world.ts";

/** GitLab's answer under a path that a project does not have any more. */
function moved(request: RoutedRequest, { id }: Project): SandboxReply {
  if (request.method !== "GET") {
    return { status: 405, body: errorBody(405, "Non GET methods are not allowed for moved projects") };
  }
  const rest = request.path.replace(/^\/api\/v4\/projects\/[^/?]+/, "");
  const location = `${apiOf(request)}/projects/${id}${rest}`;
  return { status: 301, headers: { location }, body: `This resource has been moved to ${location}` };
}

/** The project that a path names, by its id or by its full path. */
function findProject({ projects, moved: former }: World, request: RoutedRequest): Project {
  const name = (request.params["id"] ?? "").toLowerCase();
  const found = projects.find(({ id, path }) => String(id) === name || path.toLowerCase() === name);
  const renamed = found ? undefined : projects.find(({ id }) => id === former.get(name));
  if ((found ?? renamed ?? { role: "none" }).role === "none") {
    throw { status: 404, body: errorBody(404, "404 Project Not Found") } satisfies SandboxReply;
  }
  if (renamed) throw moved(request, renamed);
  return found as Project;
}

const getProject: Endpoint = ({ project }) => ({ status: 200, body: projectOf(project) });

/** Method and path below a project → what answers. */
const endpoints: Readonly<Record<string, Endpoint>> = {
  "GET ": getProject,
  "POST /issues": issues.createIssue,
  "GET /issues/:issue_iid": issues.getIssue,
  "PUT /issues/:issue_iid": issues.updateIssue,
  "POST /issues/:noteable_id/notes": issues.createNote,
  "GET /issues/:noteable_id/notes/:note_id": issues.getNote,
  "DELETE /issues/:noteable_id/notes/:note_id": issues.deleteNote,
  "POST /repository/branches": branches.createBranch,
  "GET /repository/branches/:branch": branches.getBranch,
  "HEAD /repository/branches/:branch": branches.headBranch,
  "DELETE /repository/branches/:branch": branches.deleteBranch,
  "GET /repository/tags/:tag_name": branches.getTag,
};

/** GitLab's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes = Object.entries(endpoints).map(([pattern, endpoint]) => {
    const [method, rest = ""] = pattern.split(" ");
    return route(`${method} /api/v4/projects/:id${rest}`, (request) =>
      endpoint(callOf(world, findProject(world, request), request)),
    );
  });
  const routed = router(routes, () => ({ status: 404, body: { error: "404 Not Found" } }));
  return async (request) => {
    try {
      return complete(world, gate(world, request) ?? (await routed(request)));
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(world, reply);
    }
  };
}
