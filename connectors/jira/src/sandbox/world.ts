import type { Document } from "../adf.ts";

export interface Account {
  readonly accountId: string;
  readonly displayName: string;
  readonly accountType: "atlassian" | "app";
}
export interface StoredComment {
  readonly id: string;
  readonly author: Account;
  updateAuthor: Account;
  body: Document;
  /** On a service project: customers do not see it. */
  readonly internal: boolean;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly created: string;
  updated: string;
}
export interface ChangedField {
  readonly field: string;
  readonly from: string | null;
  readonly fromText: string | null;
  readonly to: string | null;
  readonly toText: string | null;
}
export interface StoredChange {
  readonly id: string;
  readonly author: Account;
  readonly created: string;
  readonly items: readonly ChangedField[];
}
export interface StoredIssue {
  readonly id: string;
  key: string;
  project: Project;
  readonly type: IssueType;
  readonly parent: StoredIssue | undefined;
  readonly creator: Account;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly created: string;
  summary: string;
  description: Document | null;
  status: StoredStatus;
  resolution: string | null;
  assignee: Account | null;
  labels: readonly string[];
  readonly comments: StoredComment[];
  readonly worklogs: { readonly id: string; readonly author: Account }[];
  readonly attachments: { readonly id: string; readonly author: Account; readonly filename: string }[];
  readonly history: StoredChange[];
  updated: string;
  /** Whether the search knows it yet. */
  indexed: boolean;
}
export interface Project {
  readonly id: string;
  readonly key: string;
  /** Customers may see comments. */
  readonly isService: boolean;
  /** Numbers are never used again. */
  lastNumber: number;
  /** Whether the account may see it. */
  visible: boolean;
}
export interface IssueType {
  readonly id: string;
  readonly name: string;
  readonly hierarchyLevel: -1 | 0 | 1;
}
export interface StoredStatus {
  readonly id: string;
  readonly name: string;
  readonly category: "new" | "indeterminate" | "done";
}
export interface StoredTransition {
  readonly id: string;
  readonly name: string;
  /** Ids of the statuses that it starts from; any when left out. */
  readonly from?: readonly string[];
  readonly to: StoredStatus;
  /** A post-function: the resolution that it sets, or clears with null. */
  readonly resolution?: string | null;
  /** Fields that its screen asks for. */
  readonly required?: readonly string[];
}
export interface World {
  readonly projects: Project[];
  readonly issues: StoredIssue[];
  /** Keys from before a move → the issue. */
  readonly oldKeys: Map<string, StoredIssue>;
  transitions: readonly StoredTransition[];
  /** What the account may do in the projects that it sees. */
  readonly permissions: Set<string>;
  /** False: the token has expired, and the account is a stranger. */
  loginWorks: boolean;
  /** True: strangers see the projects too. */
  isPublic: boolean;
  /** True: the search does not know what is made from now on, until `index`. */
  searchLags: boolean;
  /** False: issues have no field for worklogs. */
  tracksTime: boolean;
  /** True: somebody else is changing every issue at this very moment. */
  busy: boolean;
  /** Mails that went out to people. */
  mails: number;
  ids: number;
  clock: number;
}

export const me: Account = {
  accountId: "5b10a2844c20165700ede21g",
  displayName: "Reversi Agent",
  accountType: "atlassian",
};
export const ada: Account = {
  accountId: "5b10ac8d82e05b22cc7d4ef5",
  displayName: "Ada",
  accountType: "atlassian",
};
/** A program that acts under a name of its own. */
export const rule: Account = {
  accountId: "557058:f58131cb-b67d-43c7-b30d-6b58d40bd077",
  displayName: "Automation for Jira",
  accountType: "app",
};

export const issueTypes: readonly IssueType[] = [
  { id: "10000", name: "Epic", hierarchyLevel: 1 },
  { id: "10001", name: "Task", hierarchyLevel: 0 },
  { id: "10002", name: "Bug", hierarchyLevel: 0 },
  { id: "10003", name: "Sub-task", hierarchyLevel: -1 },
];
export const statuses = {
  toDo: { id: "10000", name: "To Do", category: "new" },
  inProgress: { id: "3", name: "In Progress", category: "indeterminate" },
  done: { id: "10002", name: "Done", category: "done" },
} as const satisfies Record<string, StoredStatus>;

/** The permissions of the page. */
export const listedPermissions = [
  ...["BROWSE_PROJECTS", "CREATE_ISSUES", "ADD_COMMENTS", "TRANSITION_ISSUES"],
  ...["DELETE_ISSUES", "DELETE_OWN_COMMENTS"],
];
export const allPermissions = [...listedPermissions, "EDIT_ISSUES", "DELETE_ALL_COMMENTS"];
