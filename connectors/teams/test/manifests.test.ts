import { teams } from "@reversi-connector/teams";

test("a lost post is reported, for Graph leaves no evidence; a deletion is looked up", async () => {
  const connector = teams({ token: "not-a-real-token" });
  expect(Object.keys(connector.landed)).toEqual([]);
  expect(Object.keys(connector.holds)).toEqual(["teams.delete_message"]);
  await connector.close();
});
