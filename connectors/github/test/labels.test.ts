import { type Checkpoint, InvalidArgumentsError } from "@reversi-connector/core";
import { openIssue, putLabels } from "@reversi-connector/github/sandbox";
import { bench, failure } from "./bench.ts";

const on = (...labels: string[]) => ({ issue_number: 1, labels });

test("add_labels tells the labels it added from those that were there, and those it brought into being", async () => {
  const { call, writes } = await bench();
  expect(await call("add_labels", on("BUG", "Documentation", "new", "NEW"))).toEqual({
    issue_number: 1,
    added: ["Documentation", "new"],
    created_labels: ["new"],
    labels: ["bug", "documentation", "new"],
  });
  expect(writes().map((request) => request.json())).toEqual([{ labels: ["Documentation", "new"] }]);
});

test("labels that are all there already are not sent again, and their undo takes nothing off", async () => {
  const { call, undo, state, writes } = await bench();
  const before = await state();
  const result = await call("add_labels", on("Bug"));
  expect(result).toEqual({ issue_number: 1, added: [], created_labels: [], labels: ["bug"] });
  expect(await undo("add_labels", on("Bug"), result)).toMatchObject({ removed: [], already: true });
  expect(writes()).toEqual([]);
  expect(await state()).toEqual(before);
});

test("the undo of add_labels takes off what it added, and leaves a label it created in the repository", async () => {
  const { call, undo, undoOf, holds, backend, state } = await bench();
  const args = on("bug", "documentation", "new");
  const before = await state();
  const result = await call("add_labels", args);
  expect(await holds("remove_labels", undoOf("add_labels", args, result).args)).toBe(false);
  expect(await undo("add_labels", args, result)).toEqual({
    issue_number: 1,
    removed: ["documentation", "new"],
    labels: ["bug"],
    already: false,
  });
  expect(await holds("remove_labels", undoOf("add_labels", args, result).args)).toBe(true);
  backend.site.labels.pop();
  expect(await state()).toEqual(before);
});

test("a label that somebody else put on meanwhile stays on", async () => {
  const { call, undo, backend } = await bench();
  const args = on("documentation");
  const result = await call("add_labels", args);
  const [issue] = backend.site.issues;
  if (issue) putLabels(backend.world, backend.site, issue, ["good first issue"]);
  expect(await undo("add_labels", args, result)).toMatchObject({ labels: ["bug", "good first issue"] });
});

test("repeating the undo of labels changes nothing", async () => {
  const { call, undo, state, writes } = await bench();
  const args = on("documentation");
  const result = await call("add_labels", args);
  await undo("add_labels", args, result);
  const after = await state();
  expect(await undo("add_labels", args, result)).toMatchObject({ removed: [], already: true });
  expect(await state()).toEqual(after);
  expect(writes()).toHaveLength(2);
});

test("GH-02: every label name is one path segment when it is taken off", async () => {
  const { call, undo, backend, state, writes } = await bench();
  const args = on("type: bug", "a/b", "c?d", "e#f", "100%", "été", "a+b", "…", "👍", "x'(y)*!", "%2e%2e");
  const result = await call("add_labels", args);
  await undo("add_labels", args, result);
  expect(
    writes()
      .slice(1)
      .map(({ path }) => path.replace("/repos/acme/site/issues/1/labels/", "")),
  ).toEqual([
    "type%3A%20bug",
    "a%2Fb",
    "c%3Fd",
    "e%23f",
    "100%25",
    "%C3%A9t%C3%A9",
    "a%2Bb",
    "%E2%80%A6",
    "%F0%9F%91%8D",
    "x%27%28y%29%2A%21",
    "%252e%252e",
  ]);
  expect(backend.site.issues[0]?.labels).toEqual(["bug"]);
  expect(((await state()) as { repositories: object }).repositories).toBeDefined();
});

test.each([".", ".."])("GH-02: the label %j is refused before anything is sent", async (name) => {
  const { call, backend } = await bench();
  for (const tool of ["add_labels", "remove_labels"]) {
    const error = await failure(call(tool, on("fine", name)));
    expect(InvalidArgumentsError.is(error)).toBe(true);
    expect(error).toMatchObject({ problems: [{ at: "labels[1]" }] });
    expect(error.message).toMatch(
      /the label "\.+" \(labels\[1\]\) must not be "\." or "\.\.": no URL could name it/,
    );
  }
  expect(backend.requests).toEqual([]);
});

test("labels beyond the first page are seen, before adding and before taking off", async () => {
  const { call, undo, backend, sent } = await bench();
  const many = Array.from({ length: 130 }, (_, index) => `label ${index}`);
  const issue = openIssue(backend.world, backend.site, { title: "Many labels" });
  putLabels(backend.world, backend.site, issue, many);
  const args = { issue_number: issue.number, labels: ["label 129"] };
  const result = await call("add_labels", args);
  expect(result).toMatchObject({ added: [], labels: many });
  expect(sent()).toEqual([
    "GET /repos/acme/site/issues/3/labels?per_page=100",
    "GET /repositories/1296269/issues/3/labels?per_page=100&page=2",
  ]);
  expect(await undo("add_labels", args, { ...result, added: ["label 129"] })).toMatchObject({
    removed: ["label 129"],
    labels: many.slice(0, -1),
  });
});

test("a list that never ends, or that goes on elsewhere, is an error and no write", async () => {
  const { call, backend, writes } = await bench();
  const list = { method: "GET", path: /\/labels/, times: Number.POSITIVE_INFINITY };
  const next = (to: string) => ({ link: `<${to}>; rel="next"` });
  backend.inject(
    { kind: "status", status: 200, body: [], headers: next(`${backend.address}/repos/a/b/labels`) },
    list,
  );
  expect((await failure(call("add_labels", on("x")))).message).toMatch(/does not end after 100 pages/);
  await backend.clear();
  backend.inject(
    { kind: "status", status: 200, body: [], headers: next("https://other.example/labels") },
    list,
  );
  expect((await failure(call("add_labels", on("x")))).message).toMatch(/leads away/);
  expect(writes()).toEqual([]);
});

test("a label that is off already is skipped; a plain Not Found is a failure", async () => {
  const { call, backend } = await bench();
  const gone = { message: "Label does not exist", status: "404" };
  backend.inject({ kind: "status", status: 404, body: gone }, { method: "DELETE" });
  expect(await call("remove_labels", on("bug"))).toEqual({
    issue_number: 1,
    removed: [],
    labels: [],
    already: true,
  });
  backend.inject({ kind: "status", status: 404 }, { method: "DELETE" });
  expect(await failure(call("remove_labels", on("bug")))).toMatchObject({ code: "FAILED", status: 404 });
  expect(backend.site.issues[0]?.labels).toEqual(["bug"]);
});

test("lost access is a failed step, not labels that are off", async () => {
  const { call, holds, backend } = await bench();
  backend.site.visible = false;
  expect(await failure(call("remove_labels", on("bug")))).toMatchObject({ code: "FAILED", status: 404 });
  await expect(holds("remove_labels", on("bug"))).rejects.toThrow(/HTTP 404/);
});

test("the labels of a deleted issue are off", async () => {
  const { call, holds, backend } = await bench();
  for (const issue of backend.site.issues) issue.deleted = true;
  expect(await call("remove_labels", on("bug"))).toMatchObject({ removed: [], labels: [], already: true });
  expect(await holds("remove_labels", on("bug"))).toBe(true);
});

test("the checkpoint holds what the call is about to add, and without it nothing is written", async () => {
  const { call, writes } = await bench();
  const kept: Checkpoint[] = [];
  const result = { issue_number: 1, added: ["new"], created_labels: ["new"] };
  await call("add_labels", on("bug", "new"), {
    checkpoint: async (checkpoint) => void kept.push(checkpoint),
  });
  expect(kept).toEqual([{ result }]);
  const refuse = async () => {
    throw new Error("disk full");
  };
  const error = await failure(call("add_labels", on("newer"), { checkpoint: refuse }));
  expect(error.message).toMatch(/checkpoint was refused \(disk full\); nothing was written/);
  expect(writes()).toHaveLength(1);
});

test("whether lost labels landed is told by what is on the issue now", async () => {
  const { landed, backend } = await bench();
  const result = { issue_number: 1, added: ["new", "documentation"], created_labels: ["new"] };
  const args = on("bug", "new", "documentation");
  const [issue] = backend.site.issues;
  if (!issue) throw new Error("no issue");
  expect(await landed("add_labels", args, { result })).toEqual({ landed: false });
  putLabels(backend.world, backend.site, issue, ["NEW"]);
  expect(await landed("add_labels", args, { result })).toBe("unknown");
  putLabels(backend.world, backend.site, issue, ["documentation"]);
  expect(await landed("add_labels", args, { result })).toEqual({
    landed: true,
    result: { ...result, labels: ["bug", "NEW", "documentation"] },
  });
  expect(await landed("add_labels", args)).toBe("unknown");
});
