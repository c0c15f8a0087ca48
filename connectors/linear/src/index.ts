import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { addComment } from "./add-comment.ts";
import { connect, type LinearOptions, tokenPatterns } from "./client.ts";
import { deleteComment } from "./comments.ts";
import { createIssue } from "./create-issue.ts";
import { archiveIssue, getIssue } from "./issues.ts";

export type { LinearOptions };

/** Linear issues and comments, before a key is known. */
export const definition = defineConnector<LinearOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [getIssue, createIssue, archiveIssue, addComment, deleteComment],
});

/** The connector on one key. @throws InvalidArgumentsError naming the option, never its value */
export const linear = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly linear?: LinearOptions & CommonOptions;
  }
}
