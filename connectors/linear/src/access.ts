import { ConnectorError } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { query } from "./client.ts";
import { type Entity, saysNotFound } from "./failures.ts";
import { isUuid } from "./objects.ts";

const parents = {
  Team: "Team($id: String!) { organization { id } parent: team(id: $id) { id } }",
  Issue: "Issue($id: String!) { organization { id } parent: issue(id: $id) { id } }",
};
type ParentKind = keyof typeof parents;

/** Where something is made: its team or issue, and the workspace that the key belongs to. @throws ConnectorError */
export async function readParent(client: HttpReader, kind: ParentKind, id: string) {
  const { organization, parent } = await query<{
    readonly organization: { readonly id: string };
    readonly parent: { readonly id: string };
  }>(client, parents[kind], { id }, ["organization.id", "parent.id"]);
  return { id: parent.id, organization_id: organization.id };
}

/** What is read to show that the key still sees what it saw. */
export interface Control {
  readonly kind: ParentKind;
  /** A UUID belongs to one workspace; an identifier such as `ENG-123` may be there in any. */
  readonly id: string | undefined;
  readonly organization: string | undefined;
}

/** Why "not found" may mean "hidden"; undefined when `control` shows that it does not. */
export async function whyHidden(
  client: HttpReader,
  { kind, id, organization }: Control,
): Promise<string | undefined> {
  const what = kind.toLowerCase();
  if (id === undefined) return `its ${what} was not given`;
  if (organization === undefined && !isUuid(id)) return "its workspace is not known";
  try {
    const { organization_id } = await readParent(client, kind, id);
    if (organization_id === (organization ?? organization_id)) return undefined;
    return `the key belongs to workspace ${organization_id}, not to ${organization}`;
  } catch (error) {
    if (saysNotFound(error, kind)) return `its ${what} ${id} cannot be read`;
    throw error;
  }
}

/**
 * What `reading` brings, or undefined when that is really gone. Linear says "not found" to a key of another workspace
 * and of what the key may not see as well, so it counts only with `control` read.
 * @throws ConnectorError when nobody can tell
 */
export async function unlessGone<T>(
  client: HttpReader,
  entity: Entity,
  control: Control,
  reading: Promise<T>,
): Promise<T | undefined> {
  try {
    return await reading;
  } catch (missing) {
    if (!saysNotFound(missing, entity)) throw missing;
    const why = await whyHidden(client, control);
    if (why === undefined) return undefined;
    const unclear = `${why}, so nobody can tell what is gone and what is hidden`;
    throw new ConnectorError(`${missing.message}; ${unclear}`, missing);
  }
}
