import { type Handler, type Route, type RoutedRequest, route, router } from "@reversi-connector/http/sandbox";
import * as git from "./git.ts";
import * as issues from "./issues.ts";
import { repositoryOf } from "./objects.ts";
import { callOf, complete, type Endpoint, errorBody, gate, isReply, moved } from "./wire.ts";
import { type Repository, sameName, type World } from "./world.ts";

/** The repository that a path names, by name or, after a redirect, by id. */
function findRepository({ repositories, renamed }: World, request: RoutedRequest): Repository | undefined {
  const { owner = "", repo = "", id = "" } = request.params;
  const found = repositories.find((candidate) =>
    id === ""
      ? sameName(candidate.owner, owner) && sameName(candidate.name, repo)
      : String(candidate.id) === id,
  );
  const newId = id === "" ? renamed.get(`${owner}/${repo}`.toLowerCase()) : undefined;
  if (!found && newId !== undefined) {
    moved(request, request.path.replace(/^\/repos\/[^/]+\/[^/?]+/, `/repositories/${newId}`));
  }
  return found;
}

const getRepository: Endpoint = ({ base, repository }) => ({
  status: 200,
  body: repositoryOf(base, repository),
});

/** Endpoint below a repository → where GitHub documents it, and what answers. */
const endpoints: Readonly<Record<string, readonly [docs: string, endpoint: Endpoint]>> = {
  "GET ": ["/repos/repos#get-a-repository", getRepository],
  "POST /issues": ["/issues/issues#create-an-issue", issues.createIssue],
  "GET /issues/:number": ["/issues/issues#get-an-issue", issues.getIssue],
  "PATCH /issues/:number": ["/issues/issues#update-an-issue", issues.updateIssue],
  "GET /issues/:number/comments": ["/issues/comments#list-issue-comments", issues.listComments],
  "POST /issues/:number/comments": ["/issues/comments#create-an-issue-comment", issues.createComment],
  "GET /issues/comments/:comment": ["/issues/comments#get-an-issue-comment", issues.getComment],
  "DELETE /issues/comments/:comment": ["/issues/comments#delete-an-issue-comment", issues.deleteComment],
  "GET /issues/:number/labels": ["/issues/labels#list-labels-for-an-issue", issues.listLabels],
  "POST /issues/:number/labels": ["/issues/labels#add-labels-to-an-issue", issues.addLabels],
  "DELETE /issues/:number/labels/:name": ["/issues/labels#remove-a-label-from-an-issue", issues.removeLabel],
  "GET /labels/:name": ["/issues/labels#get-a-label", issues.getLabel],
  "GET /git/ref/*ref": ["/git/refs#get-a-reference", git.getRef],
  "POST /git/refs": ["/git/refs#create-a-reference", git.createRef],
  "DELETE /git/refs/*ref": ["/git/refs#delete-a-reference", git.deleteRef],
  "GET /git/tags/:sha": ["/git/tags#get-a-tag", git.getTag],
};

/** GitHub's part of the sandbox: every request is held to what the vendor checks. */
export function handler(world: World): Handler {
  const routes: Route[] = Object.entries(endpoints).flatMap(([pattern, [docs, endpoint]]) => {
    const [method, rest = ""] = pattern.split(" ");
    const answer = (request: RoutedRequest) => {
      const repository = findRepository(world, request);
      if (!repository?.visible) return { status: 404, body: errorBody(404, "Not Found", docs) };
      return endpoint(callOf(world, repository, request, docs), world);
    };
    return ["/repos/:owner/:repo", "/repositories/:id"].map((prefix) =>
      route(`${method} ${prefix}${rest}`, answer),
    );
  });
  const routed = router(routes);
  return async (request) => {
    try {
      return complete(world, gate(world, request) ?? (await routed(request)));
    } catch (reply) {
      if (!isReply(reply)) throw reply;
      return complete(world, reply);
    }
  };
}
