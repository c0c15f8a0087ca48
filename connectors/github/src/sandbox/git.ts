import { s } from "@reversi-connector/core";
import { refOf, tagOf } from "./objects.ts";
import type { Call, Endpoint } from "./wire.ts";
import { removeRef } from "./world.ts";

const refIn = ({ request }: Call) => request.params["ref"] ?? "";

export const getRef: Endpoint = (call) => {
  const { base, repository, fail } = call;
  call.need("contents", "read");
  if (repository.refs.size === 0) fail(409, "Git Repository is empty.");
  const ref = refIn(call);
  const sha = repository.refs.get(ref) ?? fail(404, "Not Found");
  return { status: 200, body: refOf(base, repository, ref, sha) };
};

export const getTag: Endpoint = (call) => {
  const { base, request, repository, fail } = call;
  call.need("contents", "read");
  const sha = request.params["sha"] ?? "";
  const object = repository.objects.get(sha);
  if (object?.type !== "tag") return fail(404, "Not Found");
  return { status: 200, body: tagOf(base, repository, sha, object.sha) };
};

/** `git check-ref-format`, on the whole name. */
const isRefName = (ref: string) =>
  /^refs\/[^/]+\/./.test(ref) &&
  !/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/u.test(ref) &&
  ref.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));

export const createRef: Endpoint = (call) => {
  const { base, repository, fail } = call;
  call.need("contents", "write");
  call.needPush();
  const { ref, sha } = call.json<{ readonly ref: string; readonly sha: string }>(
    s.object({ ref: s.string(), sha: s.string() }),
  );
  if (repository.refs.size === 0) fail(409, "Git Repository is empty.");
  if (!isRefName(ref)) fail(422, `${ref} is not a valid ref name.`);
  if (!/^[0-9a-f]{40}$/.test(sha)) {
    fail(422, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].");
  }
  const name = ref.slice("refs/".length);
  if (repository.refs.has(name)) fail(422, "Reference already exists");
  const object = repository.objects.get(sha) ?? fail(422, "Object does not exist");
  const clashes = [...repository.refs.keys()].some(
    (other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`),
  );
  if (clashes || (name.startsWith("heads/") && object.type !== "commit")) {
    fail(422, "Reference update failed");
  }
  repository.refs.set(name, sha);
  const made = refOf(base, repository, name, sha);
  return { status: 201, headers: { location: made.url }, body: made };
};

export const deleteRef: Endpoint = (call, world) => {
  const { repository, fail } = call;
  call.need("contents", "write");
  call.needPush();
  const ref = refIn(call);
  const branch = ref.replace(/^heads\//, "");
  if (!repository.refs.has(ref)) fail(world.missingReference, "Reference does not exist");
  if (ref === `heads/${repository.defaultBranch}`) fail(422, "Cannot delete the default branch");
  if (repository.protectedBranches.has(branch)) fail(422, "Cannot delete a protected branch");
  removeRef(repository, ref);
  return { status: 204 };
};
