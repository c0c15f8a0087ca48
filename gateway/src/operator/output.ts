import { printable } from "../shared/log.ts";

export type Format = "text" | "json";
type Colour = "red" | "green" | "yellow" | "bold" | "dim";

const codes: Readonly<Record<Colour, string>> = { red: "31", green: "32", yellow: "33", bold: "1", dim: "2" };

/** Colour only on a terminal that wants it. */
const colourful = (): boolean => {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0";
  return process.stdout.isTTY === true && TERM !== "dumb";
};

export const paint = (colour: Colour, text: string): string =>
  colourful() ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;

/** Resolves when the text is out, or its reader is gone. */
export const print = (text: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.once("error", () => resolve());
    process.stdout.write(text, () => resolve());
  });
export const printJson = (value: unknown): Promise<void> => print(`${JSON.stringify(value, null, 2)}\n`);

/** Somebody else's text on one line, cut. */
export const short = (text: string, longest = 160): string => {
  const line = printable(text)
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("\t", " ");
  return line.length <= longest ? line : `${line.slice(0, longest).toWellFormed()}…`;
};
export const compact = (value: unknown, longest?: number): string =>
  short(JSON.stringify(value) ?? "", longest);

/** A call as a person reads it. */
export const callText = ({ tool, args }: { readonly tool: string; readonly args: unknown }): string =>
  `${short(tool)} ${compact(args)}`;

/** Rows with columns of equal width; the last one is as long as it is. */
export function table(rows: readonly (readonly string[])[], indent = ""): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  "),
  );
  return lines.map((line) => `${indent}${line.trimEnd()}\n`).join("");
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
