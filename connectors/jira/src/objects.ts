import { s } from "@reversi-connector/core";
import type { Document } from "./adf.ts";

/** Jira's objects, as far as the tools read them. */
export interface Status {
  readonly id: string;
  readonly name: string;
}
export interface User {
  readonly accountId?: string;
  readonly accountType?: string;
  readonly displayName?: string;
}
export interface Named {
  readonly id: string;
  readonly key: string;
  readonly self: string;
}
export interface Issue<Fields> extends Named {
  readonly fields: Fields;
}
export interface Comment {
  readonly id: string;
  readonly author?: User;
  readonly body: Document;
  readonly properties?: readonly { readonly key: string; readonly value: unknown }[];
}
export interface Change {
  readonly author?: User;
  readonly created: string;
  readonly items: readonly {
    readonly field?: string;
    readonly fieldId?: string;
    readonly from?: string | null;
    readonly to?: string | null;
  }[];
}

/** The property of an issue or a comment that holds the key of the call that made it. People do not see it. */
export const marker = "reversi.op";
export const markOf = (op: string | undefined) => ({ key: marker, value: { op } });
export const isMarked = (value: unknown, op: string) =>
  (value as { readonly op?: unknown } | null | undefined)?.op === op;

/** Where people find an issue. A token with scopes sees no site, only Atlassian's gateway: there it is the API's own. */
export const urlOf = ({ self, key }: Named): string => {
  const [site = ""] = self.split("/rest/api/");
  return /^https:\/\/api\.atlassian\.com\//.test(self) ? self : `${site}/browse/${key}`;
};

/** `2026-07-01T10:05:00.000+0000` as RFC 3339 writes it. */
export const timeOf = (text: string): string => text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
export const momentOf = (text: string): number => Date.parse(timeOf(text));

/** Schemas of values that several tools share. */
const issue = { pattern: "^([0-9]{1,19}|[A-Za-z][A-Za-z0-9_]{0,254}-[0-9]{1,19})$" };
const digits = { pattern: "^[0-9]{1,19}$" };
export const issueName = s.string("Issue id (digits) or key such as `PROJ-12`.", issue);
export const parentName = s.string("Parent issue, id or key; needed for a sub-task.", issue);
export const issueId = s.string("Issue id, digits; stays when the issue moves.", digits);
export const issueKey = s.string("Issue key.", { pattern: "^[A-Za-z][A-Za-z0-9_]{0,254}-[0-9]{1,19}$" });
export const projectOf = (description: string) => s.string(description, { pattern: "^[A-Za-z0-9_]{1,255}$" });
export const commentId = s.string("Comment id, digits.", digits);
export const statusName = s.string("Status name.");
export const statusIdOf = (description: string) => s.string(description, digits);
export const statusId = statusIdOf("Status id, digits.");
export const url = s.string("Address of it for people; carries no credential.");
export const already = s.boolean("True when nothing had to be done.");
export const isDigits = (text: string): boolean => /^[0-9]+$/.test(text);
