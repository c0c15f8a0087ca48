import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { createBranch, deleteBranch } from "./branches.ts";
import { connect, type GitLabOptions, tokenPatterns } from "./client.ts";
import { closeIssue, createIssue, getIssue } from "./issues.ts";
import { addNote, deleteNote } from "./notes.ts";

export type { GitLabOptions };

/** GitLab issues, notes and branches, before a token is known. */
export const definition = defineConnector<GitLabOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [getIssue, createIssue, closeIssue, addNote, deleteNote, createBranch, deleteBranch],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const gitlab = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly gitlab?: GitLabOptions & CommonOptions;
  }
}
