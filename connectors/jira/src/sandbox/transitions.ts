import { siteOf, statusOf } from "./objects.ts";
import { moveIssue } from "./people.ts";
import { type Call, type Endpoint, noContent, ok } from "./wire.ts";
import { me, type StoredIssue, type StoredTransition } from "./world.ts";

/** Those that the account may run on the issue as it is now. */
const possible = ({ world, may }: Call, { status }: StoredIssue): readonly StoredTransition[] =>
  may("TRANSITION_ISSUES") ? world.transitions.filter(({ from }) => from?.includes(status.id) ?? true) : [];

const fieldOf = (name: string) => ({
  ...{ required: true, hasDefaultValue: false, key: name, name, operations: ["set"] },
  schema: { type: name, system: name },
});

export const listTransitions: Endpoint = (call) => {
  const { request } = call;
  call.query("expand", "transitionId", "skipRemoteOnlyCondition", "sortByOpsBarAndStatus");
  const withFields = call.words("expand", ["transitions.fields"]).length > 0;
  const site = siteOf(request);
  return ok({
    expand: "transitions",
    transitions: possible(call, call.issue()).map(({ id, name, from, to, required = [] }) => ({
      ...{ id, name, to: statusOf(site, to) },
      ...{ hasScreen: required.length > 0, isGlobal: from === undefined, isInitial: false },
      ...{ isAvailable: true, isConditional: false, isLooped: false },
      ...(withFields && { fields: Object.fromEntries(required.map((field) => [field, fieldOf(field)])) }),
    })),
  });
};

export const runTransition: Endpoint = (call) => {
  const { world, fail, checkFields } = call;
  call.query();
  const issue = call.issue();
  const { transition, fields = {} } = call.body("transition", "fields", "update", "properties");
  const { id } = (transition ?? {}) as { readonly id?: unknown };
  if (id === undefined) fail(400, "Missing 'transition' identifier");
  const chosen = possible(call, issue).find((each) => each.id === id);
  if (!chosen) {
    const name = world.transitions.find((each) => each.id === id)?.name ?? id;
    return fail(
      400,
      `It seems that you have tried to perform a workflow operation (${name}) that is not valid for the current state of this issue ${issue.key}.`,
    );
  }
  const given = Object.keys(fields as object);
  const missing = (chosen.required ?? []).filter((field) => !given.includes(field));
  checkFields(Object.fromEntries(missing.map((field) => [field, `${field} is required.`])));
  if (world.busy) fail(409, `The issue ${issue.key} is being changed by another request.`);
  moveIssue(world, issue, me, chosen);
  return noContent;
};
