import { fieldNames, issueOf, siteOf, userOf } from "./objects.ts";
import { type Call, type Endpoint, ok } from "./wire.ts";
import { allPermissions, me, type StoredIssue } from "./world.ts";

export const myself: Endpoint = (call) => {
  call.query("expand");
  return ok({ ...userOf(siteOf(call.request), me), emailAddress: "agent@example.com", locale: "en_GB" });
};

export const myPermissions: Endpoint = (call) => {
  const { world, fail } = call;
  const query = call.query("projectKey", "projectId", "permissions");
  const wanted = call.words("permissions", allPermissions);
  if (wanted.length === 0) fail(400, "The 'permissions' query parameter is required.");
  const name = query.get("projectId") ?? query.get("projectKey");
  if (name !== null && !call.project(name)) fail(404, `No project could be found with key '${name}'.`);
  const permissions = wanted.map((key) => [
    key,
    {
      ...{ id: String(10 + allPermissions.indexOf(key)), key, name: key, type: "PROJECT", description: "" },
      havePermission: world.loginWorks && world.permissions.has(key),
    },
  ]);
  return ok({ permissions: Object.fromEntries(permissions) });
};

type Test = (issue: StoredIssue) => boolean;

/** A clause of JQL: as much of it as programs need here, and not a word more. */
function clauseOf({ project, fail }: Call, clause: string): Test {
  const [, name, quoted, bare] = /^(project) = (?:"([^"]+)"|(\d+))$/.exec(clause) ?? [];
  if (name !== undefined) {
    const found = project(quoted ?? bare ?? "");
    return found
      ? (issue) => issue.project === found
      : fail(400, `The value '${quoted ?? bare}' does not exist for the field 'project'.`);
  }
  if (clause === "creator = currentUser()") return ({ creator }) => creator === me;
  const [, minutes] = /^created >= "-(\d+)m"$/.exec(clause) ?? [];
  if (minutes === undefined) return fail(400, `Error in the JQL Query: '${clause}' is not understood here.`);
  const since = Date.now() - Number(minutes) * 60_000;
  return ({ created }) => Date.parse(created) >= since;
}

const numberOf = ({ key }: StoredIssue) => Number(key.split("-").at(-1));
const orders: Readonly<Record<string, (a: StoredIssue, b: StoredIssue) => number>> = {
  "created DESC": (a, b) => Date.parse(b.created) - Date.parse(a.created),
  "key DESC": (a, b) => numberOf(b) - numberOf(a),
};

export const search: Endpoint = (call) => {
  const { world, fail } = call;
  const query = call.query("jql", "nextPageToken", "maxResults", "fields", "properties", "reconcileIssues");
  const [where = "", order = ""] = (query.get("jql") ?? "").split(" ORDER BY ");
  if (where === "") fail(400, "Unbounded JQL queries are not allowed here. Please add a search restriction.");
  const sort = orders[order] ?? fail(400, `Error in the JQL Query: the order '${order}' is not known.`);
  const tests = where.split(" AND ").map((clause) => clauseOf(call, clause));
  const forced = query.getAll("reconcileIssues");
  const found = world.issues
    .filter(({ id, indexed }) => indexed || forced.includes(id))
    .filter(({ project }) => call.project(project.id))
    .filter((issue) => tests.every((test) => test(issue)))
    .sort(sort);
  const from = Number(Buffer.from(query.get("nextPageToken") ?? "", "base64url").toString() || 0);
  if (!Number.isInteger(from)) fail(400, "The provided next page token is invalid.");
  const to = from + Math.min(call.number("maxResults", 50), 100);
  const isLast = to >= found.length;
  const fields = query.has("fields") ? call.words("fields", fieldNames) : [];
  const properties = query.get("properties")?.split(",") ?? [];
  return ok({
    issues: found
      .slice(from, to)
      .map((issue) => issueOf(world, siteOf(call.request), issue, { fields, properties })),
    isLast,
    ...(!isLast && { nextPageToken: Buffer.from(String(to)).toString("base64url") }),
  });
};

/** What `/search/jql` has replaced. */
export const removedSearch: Endpoint = ({ fail }) =>
  fail(410, "The requested API has been removed. Please migrate to the /rest/api/3/search/jql API.");
