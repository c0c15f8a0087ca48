import { ConnectorError } from "@reversi-connector/core";
import { type HttpReader, path, type Query } from "@reversi-connector/http";
import { saysMissing, unlessMissing } from "./client.ts";
import { type Issue, isDigits, type Status } from "./objects.ts";

export const issuePath = (issue: string) => path`/issue/${issue}`;

const isIssue = ({ id, key, self, fields }: Partial<Issue<object>>) =>
  [id, key, self].every((value) => typeof value === "string") && typeof fields === "object";

/**
 * An issue with the named fields; `expect` is what they must be.
 * @throws ConnectorError with Jira's status, 404 where the issue is not shown
 */
export async function readIssue<Found extends Issue<object>>(
  client: HttpReader,
  issue: string,
  fields: readonly (keyof Found["fields"] & string)[],
  expect: (found: Found) => boolean,
  query: Query = {},
): Promise<Found> {
  const { body } = await client.read<Found>({
    path: issuePath(issue),
    query: { ...query, fields: fields.join(",") },
    expect: (found: Found) => isIssue(found) && expect(found),
  });
  return body;
}

type WithStatus = Issue<{ readonly status: Status; readonly updated: string }>;

/** An issue's status, and when the issue was last changed. */
export const readStatus = (client: HttpReader, issue: string) =>
  readIssue<WithStatus>(client, issue, ["status", "updated"], ({ fields: { status, updated } }) =>
    [status?.id, status?.name, updated].every((value) => typeof value === "string"),
  );

/** The id of the account that the token belongs to. */
export async function accountOf(client: HttpReader): Promise<string> {
  const { body } = await client.read<{ readonly accountId: string }>({
    path: "/myself",
    expect: ["accountId"],
  });
  return body.accountId;
}

type Permission = "BROWSE_PROJECTS" | "DELETE_ISSUES";
interface Permissions {
  readonly permissions: Readonly<Partial<Record<Permission, { readonly havePermission?: boolean }>>>;
}
/** Those of `wanted` that the account lacks in a project. @throws ConnectorError when the project is not shown */
export async function lackedIn(
  client: HttpReader,
  project: string,
  wanted: readonly Permission[],
): Promise<Permission[]> {
  const { body } = await client.read<Permissions>({
    path: "/mypermissions",
    query: {
      ...(isDigits(project) ? { projectId: project } : { projectKey: project }),
      permissions: wanted.join(","),
    },
    expect: ["permissions"],
  });
  return wanted.filter((permission) => body.permissions[permission]?.havePermission !== true);
}

/** The project of an issue that is named by its key. */
const projectIn = (issue: string) => (isDigits(issue) ? undefined : issue.slice(0, issue.lastIndexOf("-")));

/** Whether the account is known and sees a project, so that what it does not find there is not there. */
async function sees(client: HttpReader, project: string): Promise<boolean> {
  await accountOf(client);
  const lacked = await unlessMissing(lackedIn(client, project, ["BROWSE_PROJECTS"]));
  return lacked?.length === 0;
}

export interface IssueName {
  readonly issue_id: string;
  readonly project?: string | undefined;
}

/**
 * What `reading` an issue brings; undefined when it is gone. Jira answers 404 for lost access too, so a 404 counts only
 * while Jira knows the account and shows it the issue's project.
 * @throws ConnectorError when nobody can tell
 */
export async function unlessGone<T>(
  client: HttpReader,
  { issue_id, project = projectIn(issue_id) }: IssueName,
  reading: Promise<T>,
): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!saysMissing(error)) throw error;
    if (project !== undefined && (await sees(client, project))) return undefined;
    const why = project === undefined ? "no project is given" : `the project ${project} cannot be read`;
    throw new ConnectorError(`${error.message}; ${why}: nobody can tell whether it is gone or hidden`, error);
  }
}
