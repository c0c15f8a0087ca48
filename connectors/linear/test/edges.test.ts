import { definition } from "@reversi-connector/linear";

test("a sub-issue, a comment and a reply are undone before what they belong to", () => {
  const requires = (name: string) => definition.manifests.find(({ tool }) => tool === name)?.requires;
  const issue = "linear.create_issue";
  expect(requires(issue)).toEqual([
    { tool: issue, match: { parent_id: "result.issue_id" } },
    { tool: issue, match: { parent_id: "result.identifier" } },
  ]);
  expect(requires("linear.add_comment")).toEqual([
    { tool: issue, match: { issue_id: "result.issue_id" } },
    { tool: issue, match: { issue_id: "result.identifier" } },
    { tool: "linear.add_comment", match: { parent_id: "result.comment_id" } },
  ]);
});
