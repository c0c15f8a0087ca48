import { ConnectorError, InvalidArgumentsError, s } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";

/** The argument that names a project. */
export const project = s.stringOrInteger(
  "Numeric id, or full path such as `group/project` (not percent-encoded).",
  { minLength: 1, maxLength: 1024, minimum: 1 },
);
export const projectId = s.integer("Numeric id of the project (a path may change).", { minimum: 1 });

export interface ProjectName {
  readonly project: string | number;
}

const numericId = /^[1-9]\d*$/;
const fullPath = /^(?!\.{1,2}\/)[\w.][\w.-]*(?:\/(?!\.{1,2}(?:\/|$))[\w.][\w.-]*)+$/;

/**
 * A project as one segment of a path. GitLab allows no `%` in a path, so one that is encoded already is refused, not
 * encoded twice.
 * @throws InvalidArgumentsError before anything is sent
 */
export function inPath({ project }: ProjectName): string {
  const name = String(project);
  if (numericId.test(name) || fullPath.test(name)) return name;
  const rule = "must be a numeric id, or a full path such as `group/project`, not percent-encoded";
  throw new InvalidArgumentsError(`project ${rule}; nothing was sent`, {
    problems: [{ at: "project", rule }],
  });
}

/** As GitLab shows a project to whoever asks. */
export interface Project {
  readonly id: number;
  /** Null while the repository is empty. */
  readonly default_branch?: string | null;
  /** Whether whoever asks may see the issues. */
  readonly issues_enabled?: boolean;
  readonly permissions?: {
    readonly project_access?: Access | null;
    readonly group_access?: Access | null;
  };
}
interface Access {
  readonly access_level: number;
}

/** @throws ConnectorError with GitLab's status */
export async function readProject(client: HttpReader, name: ProjectName): Promise<Project> {
  const { body } = await client.read<Project>({ path: path`/projects/${inPath(name)}`, expect: ["id"] });
  return body;
}

export const isNotFound = (error: unknown): error is ConnectorError =>
  ConnectorError.is(error) && error.status === 404;

/** A 404 of which nobody can tell whether the thing is gone, or hidden. */
export const hidden = (refusal: ConnectorError, why: string) =>
  new ConnectorError(
    `${refusal.message}; ${why}, so nobody can tell what is gone and what is hidden`,
    refusal,
  );

/**
 * What `reading` brings of the thing around one that was not found: lost access is answered with 404 as well.
 * @throws ConnectorError when that is not found either
 */
export async function around<T>(refusal: ConnectorError, what: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isNotFound(error) ? hidden(refusal, `${what} cannot be read`) : error;
  }
}
