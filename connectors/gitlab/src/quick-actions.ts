import { InvalidArgumentsError } from "@reversi-connector/core";

/** `/close`, `/label ~bug`: a word after a slash that starts a line, and nothing or a blank after it. */
const action = /^\s*\/[a-z]\w*(?=\s|$)/i;

/** What the versions of GitLab read differently: with any of it around, a code block may not count as one. */
const ambiguous = /`|^\s*(?:~~~|<|>|\$\$|---|\+\+\+|;;;)/;

/**
 * Lines outside code blocks. Only the plainest block counts as one, a fence of three backticks that is closed again, and
 * only in a text that every version of GitLab takes apart in the same way; else every line counts.
 */
function linesOutsideCode(lines: readonly string[]): readonly string[] {
  let inside = false;
  const outside = lines.filter((line) => {
    const fence = inside ? line === "```" : /^```[^`]*$/.test(line);
    if (fence) inside = !inside;
    return !fence && !inside;
  });
  return inside || outside.some((line) => ambiguous.test(line)) ? lines : outside;
}

/**
 * Refuses a text with lines that GitLab would run as quick actions and take out of it: no undo would know of them.
 * @throws InvalidArgumentsError naming the argument and the first such line
 */
export function refuseQuickActions(at: string, text: string): void {
  // GitLab deletes carriage returns before it looks; Markdown takes them for line ends.
  const readings = [text.replaceAll("\r", ""), text.replaceAll(/\r\n?/g, "\n")];
  for (const reading of readings) {
    const [found] = linesOutsideCode(reading.split("\n")).flatMap((line) => action.exec(line) ?? []);
    if (found === undefined) continue;
    const rule = `must not hold a line that GitLab runs as a quick action, such as ${found.trim()}`;
    throw new InvalidArgumentsError(
      `${at} ${rule}; put another character before the slash; nothing was sent`,
      {
        problems: [{ at, rule }],
      },
    );
  }
}

/** What GitLab says of the quick actions that it ran for a note. */
export interface QuickActions {
  /** What they changed, by its internal names. */
  readonly commands_changes?: object | null;
  /** Only where there was nothing else in the text: there is no note then. */
  readonly summary?: string | readonly string[];
}

/** The quick actions that GitLab ran all the same, in its own words; undefined when there were none. */
export function actionsIn({ commands_changes, summary }: QuickActions): string | undefined {
  const told = [summary ?? Object.keys(commands_changes ?? {})].flat().join(" ");
  return told === "" ? undefined : told;
}
