import { s } from "@reversi-connector/core";

const uuidPattern = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
export const isUuid = (text: string) => new RegExp(`^${uuidPattern}$`).test(text);

/** Schemas of values that several tools share. */
export const uuid = (description: string) => s.string(description, { pattern: `^${uuidPattern}$` });
export const issueName = (description: string) =>
  s.string(description, { pattern: `^(${uuidPattern}|[A-Za-z0-9_]{1,32}-[0-9]{1,10})$` });
export const issueUuid = uuid("Issue UUID.");
export const anyIssue = issueName("Issue UUID, or identifier such as `ENG-123`.");
export const teamUuid = uuid("Team UUID.");
export const identifier = s.string("Identifier such as `ENG-123`.");
export const priority = s.integer("0 none, 1 urgent … 4 low.", { minimum: 0, maximum: 4 });
export const url = s.string("Address of it for people; carries no credential.");
export const already = s.boolean("True when nothing had to be done.");
export const organizationId = uuid("Workspace (organization) the key belongs to.");
export const expectedOrganizationId = uuid(
  "Workspace in which it was made: `not found` counts as gone only there.",
);

/** The residue of whatever people are told about. */
export const notified = { id: "notified", text: "Notifications and webhooks went out." };

/** Anything that Linear gives out with an id. */
export interface Node {
  readonly id: string;
}
