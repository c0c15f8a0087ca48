import { isDocument, lengthOf, maxLength, noDocument, tooLong } from "./document.ts";
import { propertiesIn } from "./issues.ts";
import { commentOf, pageOf, siteOf } from "./objects.ts";
import * as people from "./people.ts";
import { type Call, type Endpoint, noContent, ok } from "./wire.ts";
import { me, type StoredComment, type StoredIssue } from "./world.ts";

const expansions = ["properties", "renderedBody"];

/** A comment, with its properties where they were asked for. */
function shown(call: Call, issue: StoredIssue, comment: StoredComment) {
  const properties = [...comment.properties].map(([key, value]) => ({ key, value }));
  const isAsked = call.words("expand", expansions).includes("properties");
  return { ...commentOf(siteOf(call.request), issue, comment), ...(isAsked && { properties }) };
}

function commentIn({ request, fail }: Call, { comments }: StoredIssue) {
  const { comment: id = "" } = request.params;
  return (
    comments.find((comment) => comment.id === id) ?? fail(404, `Can not find a comment for the id: ${id}.`)
  );
}

const orders = ["created", "+created", "-created"];

export const listComments: Endpoint = (call) => {
  const query = call.query("startAt", "maxResults", "orderBy", "expand");
  const issue = call.issue();
  const order = query.get("orderBy") ?? "created";
  if (!orders.includes(order)) call.fail(400, `The value '${order}' of 'orderBy' is not known.`);
  const sorted = order === "-created" ? [...issue.comments].reverse() : issue.comments;
  const maxResults = Math.min(call.number("maxResults", 100), 100);
  const { page, place } = pageOf(sorted, call.number("startAt", 0), maxResults);
  return ok({ ...place, comments: page.map((comment) => shown(call, issue, comment)) });
};

export const getComment: Endpoint = (call) => {
  call.query("expand");
  const issue = call.issue();
  return ok(shown(call, issue, commentIn(call, issue)));
};

export const addComment: Endpoint = (call) => {
  call.query("expand");
  const issue = call.issue();
  if (!call.may("ADD_COMMENTS")) call.fail(400, "You do not have the permission to comment on this issue.");
  const { body, properties } = call.body("body", "properties", "visibility");
  if (!isDocument(body)) return call.failFields({ comment: noDocument });
  if (lengthOf(body) === 0) call.failFields({ comment: "Comment body can not be empty!" });
  if (lengthOf(body) > maxLength) call.failFields({ comment: tooLong });
  const set = propertiesIn(call, properties);
  const { internal = false } = (set.get("sd.public.comment") ?? {}) as { readonly internal?: boolean };
  const comment = people.addComment(call.world, issue, { author: me, body, internal, properties: set });
  call.world.mails++;
  return ok(shown(call, issue, comment), 201);
};

export const deleteComment: Endpoint = (call) => {
  call.query();
  const issue = call.issue();
  const comment = commentIn(call, issue);
  const isOwn = comment.author.accountId === me.accountId;
  const may = call.may("DELETE_ALL_COMMENTS") || (isOwn && call.may("DELETE_OWN_COMMENTS"));
  // Not 403: so says the description, and so does Jira.
  if (!may) call.fail(400, "You do not have the permission to delete this comment.");
  people.removeComment(issue, comment);
  return noContent;
};
