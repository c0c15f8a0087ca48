import { documentOf, type Node, textOf } from "../src/adf.ts";
import { bench } from "./bench.ts";

const task = { project: "PROJ", issue_type: "Task", summary: "New" };

describe("JR-01: text becomes a valid document", () => {
  const line = (text: string) => ({
    type: "paragraph",
    content: text === "" ? [] : [{ type: "text", text }],
  });
  test.each([
    ["a\n\nb\n", ["a", "", "b"]],
    ["\n", [""]],
    ["a\r\nb\rc", ["a", "b", "c"]],
    ["x\ty 😀", ["x\ty 😀"]],
    ["  ", ["  "]],
  ])("%j", async (text, lines) => {
    const document = { type: "doc", version: 1, content: lines.map(line) };
    expect(documentOf(text)).toEqual(document);
    const on = await bench();
    const made = await on.call("create_issue", { ...task, description: text });
    expect(on.issueWith(made["issue_id"]).description).toEqual(document);
    expect(await on.call("get_issue", { issue_id: made["issue_id"] })).toMatchObject({
      description: lines.join("\n"),
    });
  });

  test("an empty description is left out", async () => {
    const on = await bench();
    await on.call("create_issue", { ...task, description: "" });
    expect(on.bodies()).toMatchObject([{ fields: expect.not.objectContaining({ description: "" }) }]);
    expect(Object.keys((on.bodies()[0] as { fields: object }).fields)).not.toContain("description");
  });

  test("a document that people wrote is read as text, line by line", () => {
    const words = (...content: Node[]): Node => ({ type: "paragraph", content });
    const text = (text: string, ...marks: string[]): Node & { marks: object[] } => ({
      type: "text",
      text,
      marks: marks.map((type) => ({ type })),
    });
    const item = (content: Node): Node => ({ type: "listItem", content: [content] });
    const document: Node = {
      type: "doc",
      content: [
        { type: "heading", attrs: { level: 1 }, content: [text("Plan")] },
        words(text("See ", "strong"), { type: "mention", attrs: { id: "1", text: "@Ada" } }, text("!")),
        words(text("one"), { type: "hardBreak" }, text("two")),
        { type: "bulletList", content: [item(words(text("x"))), item(words(text("y")))] },
        words({ type: "inlineCard", attrs: { url: "https://example.com/" } }),
        words({ type: "date", attrs: { timestamp: "1782864000000" } }, { type: "emoji", attrs: {} }),
        { type: "rule" },
        { type: "codeBlock", content: [text("a\nb")] },
      ],
    };
    expect(textOf(document)).toBe(
      "Plan\nSee @Ada!\none\ntwo\nx\ny\nhttps://example.com/\n2026-07-01\n\na\nb",
    );
  });
});
