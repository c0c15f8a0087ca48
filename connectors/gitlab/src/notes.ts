import { type ConnectorError, EffectUncertainError, s, sha256Hex } from "@reversi-connector/core";
import { type HttpReader, path } from "@reversi-connector/http";
import { tool } from "./client.ts";
import { deleteUnchanged } from "./deletion.ts";
import { createIssue, readIssue } from "./issues.ts";
import { already, type IssueName, issue, issueIid, type Note } from "./objects.ts";
import { around, hidden, inPath, isNotFound, type Project, projectId, readProject } from "./project.ts";
import { actionsIn, refuseQuickActions } from "./quick-actions.ts";

interface NoteName extends IssueName {
  readonly note_id: number;
}
const notesPath = (name: IssueName) => path`/projects/${inPath(name)}/issues/${name.issue_iid}/notes`;
const notePath = (name: NoteName) => `${notesPath(name)}${path`/${name.note_id}`}`;

/** The lowest role that may see internal notes: Planner. */
const seesInternalNotes = 15;
const roleIn = ({ project_access, group_access }: NonNullable<Project["permissions"]>) =>
  Math.max(project_access?.access_level ?? 0, group_access?.access_level ?? 0);

/**
 * Makes sure that a note is gone. GitLab says "404 Not found" of one that does not exist, or whose issue cannot be seen,
 * and "404 Note Not Found" also of an internal one that the token may no longer see.
 * @throws ConnectorError when nobody can tell
 */
async function checkGone(client: HttpReader, name: NoteName, refusal: ConnectorError): Promise<void> {
  if (refusal.reason !== "404 Note Not Found") {
    await around(refusal, `issue ${name.issue_iid} of project ${name.project}`, readIssue(client, name));
    return;
  }
  const { permissions } = await around(refusal, `project ${name.project}`, readProject(client, name));
  if (permissions && roleIn(permissions) < seesInternalNotes)
    throw hidden(refusal, "the token may not see internal notes");
}

/** Undefined when the note is gone. */
async function findNote(client: HttpReader, name: NoteName): Promise<Note | undefined> {
  try {
    const expect = ["id", "body", "updated_at"];
    return (await client.read<Note>({ path: notePath(name), expect })).body;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await checkGone(client, name, error);
    return undefined;
  }
}

const noteId = s.integer("Id of the note.", { minimum: 1 });
const sha256 = { pattern: "^[0-9a-f]{64}$" };

export const deleteNote = tool
  .idempotent("delete_note", {
    description: "Delete a note for good. A note that is gone already is success.",
    permission: "gitlab:issues:write",
    input: s.object(
      { ...issue, note_id: noteId },
      {
        expected_sha256: s.nullable(
          s.string(
            "Hash of the text the undone step left, as the service returned it; null when not known.",
            sha256,
          ),
        ),
      },
    ),
    output: s.object({ note_id: noteId, already }),
    target: ["project", "issue_iid", "note_id"],
    guard: { kind: "content", server_side: true },
    on_conflict: true,
  })
  .holds(async ({ client, args }) => (await findNote(client, args)) === undefined)
  .run(async ({ client, args, onConflict }) => {
    const { project, issue_iid, note_id, expected_sha256: expected } = args;
    const note = await findNote(client, args);
    const deleted = await deleteUnchanged(client, {
      what: `text of note ${note_id} on issue ${issue_iid} of project ${project} (SHA-256)`,
      path: notePath(args),
      now: note && sha256Hex(note.body),
      expected,
      onConflict,
      changedAt: note?.updated_at,
      isGone: async () => (await findNote(client, args)) === undefined,
    });
    return { note_id, already: !deleted };
  });

export const addNote = tool
  .reversible("add_note", {
    description: "Comment on an issue. Lines that GitLab would run as quick actions are refused.",
    permission: "gitlab:issues:write",
    input: s.object(
      {
        ...issue,
        body: s.string("Text, Markdown, without quick actions.", { minLength: 1, maxLength: 1_000_000 }),
      },
      { internal: s.boolean("Whether only members see it.", { default: false }) },
    ),
    output: s.object({
      project_id: projectId,
      issue_iid: issueIid,
      note_id: noteId,
      sha256: s.string("SHA-256 of the text as the service returned it.", sha256),
    }),
    additive: true,
    compensation: {
      tool: deleteNote,
      argument_map: {
        project: "result.project_id",
        issue_iid: "args.issue_iid",
        note_id: "result.note_id",
        expected_sha256: "result.sha256",
      },
    },
    requires: [
      { tool: createIssue, match: { project: "args.project", issue_iid: "result.issue_iid" } },
      { tool: createIssue, match: { project: "result.project_id", issue_iid: "result.issue_iid" } },
    ],
    residue: [{ id: "notified", text: "Mails and webhooks went out." }],
  })
  .run(async ({ client, args }) => {
    const { issue_iid, body, internal } = args;
    refuseQuickActions("body", body);
    const { body: made } = await client.write<Note>({
      method: "POST",
      path: notesPath(args),
      json: { body, internal },
      expect: (note: Note) => actionsIn(note) !== undefined || isNote(note),
    });
    checkNothingRan(made);
    return { project_id: made.project_id, issue_iid, note_id: made.id, sha256: sha256Hex(made.body) };
  });

const isNote = ({ id, project_id, body }: Partial<Note>) =>
  typeof id === "number" && typeof project_id === "number" && typeof body === "string";

/** @throws EffectUncertainError naming what no undo would take back */
function checkNothingRan(made: Partial<Note>): void {
  const ran = actionsIn(made);
  if (ran === undefined) return;
  const note = made.id === undefined ? "made no note of the text" : `made note ${made.id}`;
  throw new EffectUncertainError(
    `GitLab ${note} and ran quick actions in it (${ran}), which cannot be undone: look at the issue`,
  );
}
