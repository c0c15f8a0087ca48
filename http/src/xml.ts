/** An element. */
export interface Element {
  readonly name: string;
  /** As written: `Encoded="true"`. */
  readonly attributes: string;
  readonly children: readonly Element[];
  /** Its own text, entities decoded. */
  readonly text: string;
}

const token =
  /<\?[^<>]*\?>|<(?<end>\/?)(?<name>[A-Za-z][\w.-]*)(?<attributes>(?:\s+[\w:.-]+="[^"<>]*")*)\s*(?<empty>\/?)>|(?<text>[^<]+)/y;
const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Undefined for an ampersand that begins no entity. */
function decoded(text: string): string | undefined {
  if (/&(?!(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/i.test(text)) return undefined;
  return text.replace(/&([^;]+);/g, (whole, entity: string) => {
    const code = entity.startsWith("#x") ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    if (!entity.startsWith("#")) return named[entity] ?? whole;
    return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

interface Open {
  readonly name: string;
  readonly attributes: string;
  readonly children: Element[];
  text: string;
}

/**
 * The root of a document as the object stores write them: elements, attributes, text. Undefined for everything else:
 * text that was cut half way, HTML, comments, a document type.
 */
export function parseXml(document: string): Element | undefined {
  const top: Open = { name: "", attributes: "", children: [], text: "" };
  const open: Open[] = [top];
  token.lastIndex = 0;
  while (token.lastIndex < document.length) {
    const { end, name, attributes = "", empty, text } = token.exec(document)?.groups ?? {};
    const inner = open.at(-1) ?? top;
    if (text !== undefined) {
      const plain = decoded(text);
      if (plain === undefined || (inner === top && plain.trim() !== "")) return undefined;
      inner.text += plain;
    } else if (name === undefined) {
      if (token.lastIndex === 0) return undefined; // nothing fitted
    } else if (end) {
      if (inner.name !== name || open.length < 2) return undefined;
      open.pop();
    } else {
      const element: Open = { name, attributes: attributes.trim(), children: [], text: "" };
      inner.children.push(element);
      if (!empty) open.push(element);
    }
  }
  return open.length === 1 && top.children.length === 1 ? top.children[0] : undefined;
}

/** The first child of this name. */
export const childOf = (element: Element | undefined, name: string): Element | undefined =>
  element?.children.find((child) => child.name === name);
/** The text of the first child of this name. */
export const textOf = (element: Element | undefined, name: string): string | undefined =>
  childOf(element, name)?.text;
/** The children of this name. */
export const childrenOf = ({ children }: Element, name: string): readonly Element[] =>
  children.filter((child) => child.name === name);

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Text as it stands in a document. XML 1.0 cannot write control characters, not even escaped. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
