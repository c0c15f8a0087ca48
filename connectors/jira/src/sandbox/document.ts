import type { Document, Node } from "../adf.ts";

const blocks = [
  ...["paragraph", "heading", "bulletList", "orderedList", "listItem", "codeBlock", "blockquote", "rule"],
  ...["panel", "table", "tableRow", "tableHeader", "tableCell"],
];
const inline = ["text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard"];
/** Blocks that hold nothing but text. */
const lines = ["paragraph", "heading", "codeBlock"];
const members = ["type", "content", "text", "marks", "attrs"];

function isNode(value: unknown, allowed: readonly string[]): value is Node {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { type, content, text } = value as Partial<Node>;
  if (type === undefined || !allowed.includes(type)) return false;
  if (Object.keys(value).some((name) => !members.includes(name))) return false;
  if (type === "text") return typeof text === "string" && text !== "" && content === undefined;
  if (text !== undefined) return false;
  if (content === undefined) return true;
  return (
    Array.isArray(content) && content.every((node) => isNode(node, lines.includes(type) ? inline : blocks))
  );
}

/** Whether a value is a document as Jira takes it: version 1, known nodes, no empty text. */
export function isDocument(value: unknown): value is Document {
  if (typeof value !== "object" || value === null) return false;
  const { type, version, content, ...others } = value as Partial<Document>;
  if (type !== "doc" || version !== 1 || Object.keys(others).length > 0) return false;
  return Array.isArray(content) && content.every((node) => isNode(node, blocks));
}

export const lengthOf = ({ text = "", content = [] }: Node): number =>
  content.reduce((sum, node) => sum + lengthOf(node), text.length);
export const maxLength = 32_767;
export const noDocument = "Operation value must be an Atlassian Document (see the Atlassian Document Format)";
export const tooLong = "The entered text is too long. It exceeds the allowed limit of 32,767 characters.";
