import { UsageError } from "@reversi-connector/core/program";
import type { Found } from "./discover.ts";
import type { FlagRules } from "./flags.ts";

const kebab = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
const looksSecret =
  /^(.+-)?(token|secret|password|passwd|passphrase|(api|access|secret|private)-?key|credentials?|bearer)$/;

/**
 * Credentials on a command line end up in process lists and shell histories, so a flag that looks like one, or that is
 * called as a secret setting of an installed connector, is refused.
 * @throws UsageError naming the variable to use, never the value
 */
export function refuseCredentialFlags(
  argv: readonly string[],
  known: FlagRules,
  connectors: () => readonly Found[],
): void {
  const words = argv.flatMap((argument) => /^--?([A-Za-z][\w-]*)/.exec(argument)?.[1] ?? []);
  for (const word of words.filter((candidate) => !Object.hasOwn(known, candidate))) {
    const flag = kebab(word);
    const secrets = connectors().flatMap(({ reversi, packageName }) =>
      Object.entries(reversi.settings)
        .filter(([, { secret }]) => secret === true)
        .map(([variable, { option }]) => ({
          variable,
          named: argv.includes(reversi.connector) || argv.includes(packageName),
          same: flag === kebab(option) || flag === kebab(variable),
        })),
    );
    if (!looksSecret.test(flag) && !secrets.some(({ same }) => same)) continue;
    const closest =
      [
        secrets.filter(({ same, named }) => same && named),
        secrets.filter(({ named }) => named),
        secrets.filter(({ same }) => same),
        secrets,
      ].find((list) => list.length > 0) ?? [];
    const variables = closest.map(({ variable }) => variable).join(" or ") || "the connector's variable";
    throw new UsageError(
      `--${word} is refused: credentials are read from the environment only; set ${variables} instead`,
    );
  }
}
