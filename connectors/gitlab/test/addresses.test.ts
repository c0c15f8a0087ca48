import { gitlab } from "@reversi-connector/gitlab";
import { bench, failure } from "./bench.ts";

test.each([
  ["", ""],
  ["/", ""],
  ["/git", "/git"],
  ["/git/", "/git"],
  ["/git/api/v4/", "/git"],
])("HT-09: under a base URL ending in %j requests go to %j/api/v4", async (given, prefix) => {
  const { backend } = await bench();
  const connector = gitlab({ token: "not-a-real-token", baseUrl: `${backend.address}${given}` });
  await failure(connector.tools["gitlab.get_issue"]?.({ project: 7, issue_iid: 1 }) ?? Promise.resolve());
  await connector.close();
  expect(backend.requests.map(({ path }) => path)).toEqual([`${prefix}/api/v4/projects/7/issues/1`]);
});
