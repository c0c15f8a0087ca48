import { UsageError } from "../shared/usage.ts";

/**
 * A command line as its words: blanks separate, quotes and backslashes keep together, as a shell would read it. Nothing is
 * expanded, and no shell runs.
 * @throws UsageError for an open quote, or nothing at all
 */
export function wordsOf(command: string): [string, ...string[]] {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;
  let word: string | undefined;
  while (part.lastIndex < command.length) {
    const at = part.lastIndex;
    const found = part.exec(command);
    if (!found)
      throw new UsageError(
        `the command ${command} cannot be read from its character ${at + 1} on: a quote is open`,
      );
    const [, single, double, escaped, plain] = found;
    const text = single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain;
    if (text !== undefined) word = (word ?? "") + text;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  const [first, ...rest] = words;
  if (first === undefined) throw new UsageError("the compensator's command is empty");
  return [first, ...rest];
}
