/** Fields that are all of one type. */
const all = (type: string, names: string) => Object.fromEntries(names.split(" ").map((name) => [name, type]));

/** What stands for an object of which the sandbox knows nothing. */
const stub = { id: "ID!" };

/** What Linear's own SDK asks for besides, with the types that it declares. Most of it the sandbox does not have. */
export const wide: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ActorBot: {
    ...all("String", "avatarUrl subType name userDisplayName"),
    id: "ID",
    type: "String!",
  },
  AiPromptRules: {
    ...all("DateTime!", "updatedAt createdAt"),
    archivedAt: "DateTime",
    id: "ID!",
    updatedBy: "User",
  },
  Comment: {
    ...all(
      "String",
      "resolvingCommentId documentContentId initiativeId initiativeUpdateId projectId projectUpdateId quotedText",
    ),
    ...all("Comment", "resolvingComment parent"),
    agentSession: "AgentSession",
    reactionData: "JSONObject!",
    reactions: "[Reaction!]!",
    botActor: "ActorBot",
    documentContent: "DocumentContent",
    syncedWith: "[ExternalEntityInfo!]",
    externalThread: "SyncedExternalThread",
    externalUser: "ExternalUser",
    initiative: "Initiative",
    initiativeUpdate: "InitiativeUpdate",
    project: "Project",
    projectUpdate: "ProjectUpdate",
    resolvedAt: "DateTime",
    resolvingUser: "User",
  },
  DocumentContent: {
    ...all("String", "content contentState"),
    ...all("DateTime!", "updatedAt createdAt"),
    ...all("DateTime", "restoredAt archivedAt"),
    aiPromptRules: "AiPromptRules",
    document: "Document",
    initiative: "Initiative",
    issue: "Issue",
    projectMilestone: "ProjectMilestone",
    project: "Project",
    id: "ID!",
    welcomeMessage: "WelcomeMessage",
  },
  ExternalEntityInfo: {
    ...all("String!", "service id"),
    metadata: "ExternalEntityInfoMetadata",
  },
  ExternalEntityInfoGithubMetadata: {
    ...all("String", "owner repo"),
    number: "Float",
  },
  ExternalEntityInfoJiraMetadata: {
    ...all("String", "issueTypeId projectId issueKey"),
  },
  ExternalEntitySlackMetadata: {
    ...all("String", "messageUrl channelId channelName"),
    isFromSlack: "Boolean!",
  },
  Issue: {
    ...all(
      "DateTime",
      "startedTriageAt triagedAt addedToCycleAt addedToProjectAt addedToTeamAt autoArchivedAt autoClosedAt canceledAt completedAt startedAt slaStartedAt slaBreachesAt slaHighRiskAt slaMediumRiskAt snoozedUntilAt",
    ),
    ...all("User", "delegate asksRequester snoozedBy"),
    ...all("Float!", "boardOrder sortOrder prioritySortOrder"),
    ...all("String", "integrationSourceType slaType"),
    ...all("String!", "priorityLabel branchName"),
    ...all("Float", "estimate subIssueSortOrder"),
    ...all("ExternalUser", "externalUserCreator asksExternalUserRequester"),
    ...all("Template", "lastAppliedTemplate recurringIssueTemplate"),
    reactionData: "JSONObject!",
    labelIds: "[String!]!",
    reactions: "[Reaction!]!",
    customerTicketCount: "Int!",
    sharedAccess: "IssueSharedAccess!",
    botActor: "ActorBot",
    sourceComment: "Comment",
    cycle: "Cycle",
    dueDate: "TimelessDate",
    syncedWith: "[ExternalEntityInfo!]",
    parent: "Issue",
    projectMilestone: "ProjectMilestone",
    project: "Project",
    favorite: "Favorite",
    inheritsSharedAccess: "Boolean!",
  },
  IssueSharedAccess: {
    ...all("Boolean!", "viewerHasOnlySharedAccess isShared"),
    disallowedIssueFields: "[String!]!",
    sharedWithCount: "Int!",
    sharedWithUsers: "[User!]!",
  },
  Reaction: {
    ...all("DateTime!", "updatedAt createdAt"),
    comment: "Comment",
    externalUser: "ExternalUser",
    initiativeUpdate: "InitiativeUpdate",
    issue: "Issue",
    emoji: "String!",
    projectUpdate: "ProjectUpdate",
    archivedAt: "DateTime",
    id: "ID!",
    user: "User",
  },
  SyncedExternalThread: {
    ...all("String", "url name displayName subType"),
    ...all("Boolean!", "isPersonalIntegrationRequired isPersonalIntegrationConnected isConnected"),
    type: "String!",
    id: "ID",
  },
  User: {
    ...all(
      "String",
      "description avatarUrl statusEmoji timezone disableReason statusLabel gitHubUserId title calendarHash",
    ),
    ...all(
      "Boolean!",
      "isAssignable isMentionable guest admin owner app supportsAgentSessions canAccessAnyPublicTeam",
    ),
    ...all("String!", "avatarBackgroundColor initials url inviteHash"),
    ...all("DateTime", "statusUntilAt lastSeen archivedAt"),
    ...all("DateTime!", "updatedAt createdAt"),
    createdIssueCount: "Int!",
  },
  WelcomeMessage: {
    ...all("DateTime!", "updatedAt createdAt"),
    archivedAt: "DateTime",
    title: "String",
    id: "ID!",
    updatedBy: "User",
    enabled: "Boolean!",
  },
  AgentSession: stub,
  Cycle: stub,
  Document: stub,
  ExternalUser: stub,
  Favorite: stub,
  Initiative: stub,
  InitiativeUpdate: stub,
  Project: stub,
  ProjectMilestone: stub,
  ProjectUpdate: stub,
  Template: stub,
};

/** Types that are one of several. */
export const unions: Readonly<Record<string, readonly string[]>> = {
  ExternalEntityInfoMetadata: [
    "ExternalEntityInfoGithubMetadata",
    "ExternalEntityInfoJiraMetadata",
    "ExternalEntitySlackMetadata",
  ],
};
