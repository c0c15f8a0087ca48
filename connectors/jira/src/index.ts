import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { connect, type JiraOptions, secretsIn, tokenPatterns } from "./client.ts";
import { addComment, deleteComment } from "./comments.ts";
import { createIssue } from "./create.ts";
import { deleteIssue } from "./delete.ts";
import { getIssue } from "./get.ts";
import { restoreStatus, transitionIssue } from "./transitions.ts";

export type { JiraOptions };

/** Jira issues, comments and status, before a site is known. */
export const definition = defineConnector<JiraOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  secretsIn,
  connect,
  tools: [getIssue, createIssue, addComment, transitionIssue, deleteIssue, deleteComment, restoreStatus],
});

/** The connector on one site. @throws InvalidArgumentsError naming the option, never its value */
export const jira = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly jira?: JiraOptions & CommonOptions;
  }
}
