import { childOf, childrenOf, escapeXml, parseXml, textOf } from "@reversi-connector/http/xml";

test("a document is read with its entities, its empty elements and its blanks", () => {
  const root = parseXml(
    '<?xml version="1.0" encoding="UTF-8"?>\n<R xmlns="http://x/">\n <A>&lt;&quot;&amp;&#252;&#x1F600;&apos;</A><B/><A> b </A>\n</R>\n',
  );
  expect(root?.name).toBe("R");
  expect(textOf(root, "A")).toBe("<\"&ü😀'");
  expect(textOf(root, "B")).toBe("");
  expect(textOf(root, "C")).toBeUndefined();
  expect(root && childrenOf(root, "A").map(({ text }) => text)).toEqual(["<\"&ü😀'", " b "]);
});

test.each([
  "",
  "  ",
  "text",
  "<a>",
  "</a>",
  "<a></b>",
  "<a><b></a></b>",
  "<a/><b/>",
  "<a>&unknown;</a>",
  "<a>& b</a>",
  "<a b=c></a>",
  "<!doctype html><p>It works!</p>",
  '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
  "<a><!-- no --></a>",
  "<a><![CDATA[no]]></a>",
  "<a>1</a> 2",
  "{}",
])("%j is no document", (text) => {
  expect(parseXml(text)).toBeUndefined();
});

test("a long text is read in linear time's worth of steps", () => {
  const many = "<K>k</K>".repeat(50_000);
  expect(parseXml(`<R>${many}</R>`)?.children).toHaveLength(50_000);
  expect(parseXml(`<R>${many}`)).toBeUndefined();
});

test("attributes are kept as they are written, and what was escaped is read as it was", () => {
  const text = "<\"&ü😀'>";
  const root = parseXml(`<R><Name Encoded="true">${escapeXml(text)}</Name></R>`);
  expect(childOf(root, "Name")?.attributes).toBe('Encoded="true"');
  expect(textOf(root, "Name")).toBe(text);
  expect(childOf(root, "Other")).toBeUndefined();
});
