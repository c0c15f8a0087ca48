import { type CommonOptions, defineConnector, readPackage } from "@reversi-connector/core";
import type { HttpClient, HttpReader } from "@reversi-connector/http";
import { createBranch, deleteBranch } from "./branches.ts";
import { connect, type GitHubOptions, tokenPatterns } from "./client.ts";
import { addComment, deleteComment } from "./comments.ts";
import { closeIssue, createIssue, getIssue } from "./issues.ts";
import { addLabels, removeLabels } from "./labels.ts";

export type { GitHubOptions };

/** GitHub issues, comments, labels and branches, before a token is known. */
export const definition = defineConnector<GitHubOptions, HttpClient, HttpReader>({
  package: readPackage(import.meta.url),
  tokenPatterns,
  connect,
  tools: [
    getIssue,
    createIssue,
    closeIssue,
    addComment,
    deleteComment,
    addLabels,
    removeLabels,
    createBranch,
    deleteBranch,
  ],
});

/** The connector on one token. @throws InvalidArgumentsError naming the option, never its value */
export const github = definition.create;

declare module "@reversi-connector/core" {
  interface ConnectorOptions {
    readonly github?: GitHubOptions & CommonOptions;
  }
}
