import { InvalidArgumentsError } from "@reversi-connector/core";

const longestName = 255;
const refuse = (argument: string, rule: string) =>
  new InvalidArgumentsError(`${argument} ${rule}`, { problems: [{ at: argument, rule }] });

/** Names that mean something else than a file to Windows: devices, streams, and ends that it drops. */
const notOnWindows =
  /[<>:"|?*\p{Cc}]|[. ]$|^(?:con|prn|aux|nul|com[1-9\u00b9\u00b2\u00b3]|lpt[1-9\u00b9\u00b2\u00b3])(?:\..*)?$/iu;

/**
 * The names in a path, as given: nothing is decoded or normalised, only `.` and doubled slashes fall away.
 * @throws InvalidArgumentsError for `..` (even where it would stay inside) and for names no file can have
 */
export function segmentsOf(path: string, argument: string, platform: string = process.platform): string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    if (name === "..") throw refuse(argument, "must not hold `..`: it could lead outside the root");
    if (Buffer.byteLength(name) > longestName)
      throw refuse(argument, `has a name longer than ${longestName} bytes`);
    if (platform === "win32" && notOnWindows.test(name))
      throw refuse(argument, "has a name that Windows keeps for itself");
  }
  return names;
}

/** The one spelling of a path; `.` for the root. */
export const spelling = (segments: readonly string[]): string => segments.join("/") || ".";

/** As `segmentsOf`, for something that is written, moved or removed: never the root itself. */
export function segmentsBelow(path: string, argument: string): string[] {
  const names = segmentsOf(path, argument);
  if (names.length === 0)
    throw refuse(argument, "is the root itself, which is never written, moved or removed");
  return names;
}
