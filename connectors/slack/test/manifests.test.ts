import { definition } from "@reversi-connector/slack";

test("replies and reactions wait for the message that the same run posted", () => {
  const edges = definition.manifests.flatMap(({ tool, requires }) =>
    (requires ?? []).map(({ tool: earlier, match }) => [tool, earlier, match]),
  );
  expect(edges).toEqual([
    ["slack.add_reaction", "slack.post_message", { timestamp: "result.ts" }],
    ["slack.post_message", "slack.post_message", { thread_ts: "result.ts" }],
  ]);
});
