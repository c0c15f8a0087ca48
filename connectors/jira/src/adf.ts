/** A node of the Atlassian Document Format. */
export interface Node {
  readonly type: string;
  readonly text?: string;
  readonly content?: readonly Node[];
  readonly attrs?: Readonly<Record<string, unknown>>;
}
export interface Document extends Node {
  readonly type: "doc";
  readonly version: 1;
  readonly content: readonly Node[];
}

/** A text node must not be empty: an empty line is a paragraph without any. */
const paragraph = (line: string): Node => ({
  type: "paragraph",
  content: line === "" ? [] : [{ type: "text", text: line }],
});

/** A text as a document, each line a paragraph; a line break at the end ends the last line. */
export const documentOf = (text: string): Document => ({
  type: "doc",
  version: 1,
  content: text
    .replace(/(?:\r\n|\r|\n)$/, "")
    .split(/\r\n|\r|\n/)
    .map(paragraph),
});

const inline: readonly string[] = [
  ...["text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard", "inlineExtension"],
  ...["placeholder", "mediaInline"],
];
/** What stands for a node that has no text of its own. */
const labelOf = ({ text, shortName, url, timestamp, title }: NonNullable<Node["attrs"]>): string => {
  const label = [text, shortName, url, title].find((value) => typeof value === "string" && value !== "");
  if (typeof label === "string") return label;
  const milliseconds = Number(timestamp ?? Number.NaN);
  return Number.isFinite(milliseconds) ? new Date(milliseconds).toISOString().slice(0, 10) : "";
};

/** The text of a document, a line for each block, without its formatting. */
export function textOf({ type, text, content, attrs }: Node): string {
  if (type === "hardBreak") return "\n";
  if (text !== undefined) return text;
  if (content === undefined) return attrs ? labelOf(attrs) : "";
  const isLine = content.every((node) => inline.includes(node.type));
  return content.map(textOf).join(isLine ? "" : "\n");
}
