import { EffectUncertainError, InvalidArgumentsError } from "@reversi-connector/core";
import { bench, failure } from "./bench.ts";

const fence = "```";

describe("GL-05: a text with a line that GitLab would run", () => {
  test.each([
    "/close\n/label ~bug",
    "/close",
    "Some text\n/close",
    "Some text\n/label ~bug\nmore text",
    "/CLOSE",
    "/Label ~bug",
    "text\r\n/close\r\n",
    "text\r/close",
    "/cl\rose",
    "\r/close",
    "/\rclose",
    "  /close",
    "\t/close",
    "\u00a0/close",
    "\ufeff/close",
    "/shrug",
    "/copy_metadata #1",
    "/unknown_to_us now",
    `${fence}\ncode\n${fence}\n/close`,
    `${fence}\n${fence}\n/close\n${fence}\n${fence}`,
    `${fence}\n/close`,
    `${fence}${fence.slice(1)}\n${fence}\n/close\n${fence}`,
    `~~~\n${fence}\n~~~\n/close\n${fence}`,
    `<!--\n${fence}\n-->\n/close\n${fence}`,
    `<pre>\n${fence}\n</pre>\n/close\n${fence}`,
    `>>>\n${fence}\n>>>\n/close\n${fence}`,
    `  ${fence}\n${fence}\n/close\n${fence}`,
    `---\n${fence}\n---\n/close\n${fence}`,
    `a \`b\n${fence}\n/close\n${fence}`,
    `${fence}\n\`\n${fence}x\n${fence}\n/close`,
    "`\n/close\n`",
    "<div>\n/close\n</div>",
  ])("(%j) is refused before anything is sent", async (text) => {
    const { call, backend } = await bench();
    for (const [tool, name, args] of [
      ["add_note", "body", { issue_iid: 1, body: text }],
      ["create_issue", "description", { title: "x", description: text }],
    ] as const) {
      const error = await failure(call(tool, args));
      expect(InvalidArgumentsError.is(error)).toBe(true);
      expect(error).toMatchObject({
        problems: [{ at: name, rule: expect.stringContaining("quick action") }],
      });
      expect(error.message).toMatch(/put another character before the slash; nothing was sent/);
    }
    expect(backend.requests).toEqual([]);
  });

  test.each([
    "See /close",
    "a/close",
    "/usr/bin/env is missing",
    "// comment",
    "/ alone",
    "/123",
    "https://example.com/close",
    "\\/close",
    "- /close",
    "> /close",
    "`/close`",
    `Routes:\n\n${fence}\n/health\n/close\n${fence}\n\nThat is all.`,
    `${fence}ruby\n/close\n${fence}`,
    `${fence}\n/a\n${fence}\ntext\n${fence}\n/b\n${fence}`,
  ])("is not %j: it is sent as it is, and nothing runs", async (text) => {
    const { call, backend } = await bench();
    await call("add_note", { issue_iid: 1, body: text });
    await call("create_issue", { title: "x", description: text });
    const [first, , made] = backend.site.issues;
    expect(first).toMatchObject({ state: "opened", labels: ["bug"], notes: [{ body: text }] });
    expect(made).toMatchObject({ state: "opened", description: text });
  });

  test("answered with 202 and no note is no success: the error names what ran", async () => {
    const { call, backend } = await bench();
    const body = { commands_changes: { state_event: "close" }, summary: ["Closed this issue."] };
    backend.inject({ kind: "status", status: 202, body }, { method: "POST" });
    const error = await failure(call("add_note", { issue_iid: 1, body: "x" }));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toMatch(
      /made no note of the text and ran quick actions in it \(Closed this issue\.\)/,
    );
  });

  test.each([
    { commands_changes: {}, summary: ["Failed to apply commands."] },
    { commands_changes: {} },
    null,
    {},
  ])("answered with %j is no success either", async (body) => {
    const { call, backend } = await bench();
    backend.inject({ kind: "status", status: 202, body: JSON.stringify(body) }, { method: "POST" });
    const error = await failure(call("add_note", { issue_iid: 1, body: "x" }));
    expect(EffectUncertainError.is(error)).toBe(true);
  });

  test("that GitLab runs beside a note all the same is named, with the note's id", async () => {
    const { call, backend } = await bench();
    const body = { id: 7, project_id: 1, body: "x", commands_changes: { state_event: "close" } };
    backend.inject({ kind: "status", status: 201, body }, { method: "POST" });
    const error = await failure(call("add_note", { issue_iid: 1, body: "x" }));
    expect(EffectUncertainError.is(error)).toBe(true);
    expect(error.message).toMatch(/made note 7 and ran quick actions in it \(state_event\)/);
  });
});
