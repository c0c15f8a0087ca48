import type { RoutedRequest } from "@reversi-connector/http/sandbox";
import type { By } from "./deeds.ts";
import { parse, read, type Sent } from "./parameters.ts";
import { fail, lacks, type Reply, refuse } from "./wire.ts";
import type { World } from "./world.ts";

/** One request to one endpoint. */
export interface Call {
  readonly world: World;
  readonly request: RoutedRequest;
  /** The form of a POST, the query of anything else. */
  readonly sent: Sent;
  readonly by: By;
}
export type Endpoint = (call: Call) => Reply;

export function callOf(world: World, request: RoutedRequest, by: By): Call {
  const isForm = request.method === "POST";
  if (isForm && request.query.size > 0) read(parse(String(request.query)), {});
  return { world, request, by, sent: parse(isForm ? request.text : String(request.query)) };
}

/** Throws unless the key has the right; a right to write includes the one to read. */
export function need({ denied }: World, area: string, access: "read" | "write"): void {
  if (denied.has(`${area}_${access}`)) lacks(`${area}_${access}`);
}

export const ok = (body: object): Reply => ({ status: 200, body });

/** The thing that a parameter names, or Stripe's refusal: 400, and for one in the path 404 before anything executes. */
export function find<Item extends { readonly id: string }>(
  { otherMode }: World,
  items: readonly Item[],
  id: string,
  {
    what,
    param,
    inPath = false,
  }: { readonly what: string; readonly param: string; readonly inPath?: boolean },
): Item {
  const found = items.find((item) => item.id === id);
  if (found) return found;
  const elsewhere = otherMode.has(id)
    ? "; a similar object exists in live mode, but a test mode key was used to make this request."
    : "";
  const error = { code: "resource_missing", message: `No such ${what}: '${id}'${elsewhere}`, param };
  return inPath ? refuse(404, error) : fail(400, error);
}
