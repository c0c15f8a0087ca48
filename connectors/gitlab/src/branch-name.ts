import { InvalidArgumentsError } from "@reversi-connector/core";

/** What git (`git check-ref-format`) and GitLab refuse in the name of a branch or tag. */
const rules: readonly (readonly [broken: RegExp, rule: string])[] = [
  [/^refs\//, 'must be given without "refs/heads/" or the like'],
  [/^\/|\/\/|\/$/, 'must not start or end with "/" or hold "//"'],
  [/(?:^|\/)\./, "must not have a part that starts with a dot"],
  [/\.lock(?:\/|$)/, 'must not have a part that ends with ".lock"'],
  [/\.\./, 'must not hold ".."'],
  [/\.$/, "must not end with a dot"],
  [/@\{/, 'must not hold "@{"'],
  [/^(?:@|HEAD)$/, 'must not be "@" or "HEAD"'],
  [/^-/, 'must not start with "-"'],
  [/[\p{Cc} ~^:?*[\\]/u, "must not hold a blank, a control character or one of ~^:?*[\\"],
  [/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i, "must not look like a commit SHA"],
];

/**
 * Refuses a name before it becomes part of any request: what git forbids could name something else there.
 * @throws InvalidArgumentsError naming the argument and the rule
 */
export function checkRefName(at: string, name: string): void {
  const [, rule] = rules.find(([broken]) => broken.test(name)) ?? [];
  if (rule === undefined) return;
  throw new InvalidArgumentsError(`${at} ${rule}: ${JSON.stringify(name)}; nothing was sent`, {
    problems: [{ at, rule }],
  });
}
