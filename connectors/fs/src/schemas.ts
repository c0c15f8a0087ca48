import { s } from "@reversi-connector/core";

const pathRules = { minLength: 1, maxLength: 4096, pattern: String.raw`^[^/\\\u0000][^\\\u0000]*$` };
const id = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";
const about = "Path relative to the root, with `/`; no leading `/`, no `..`, no backslash, no NUL.";

export const pathOf = (description: string) => s.string(description, pathRules);
export const path = pathOf(about);
/** The root when left out. */
export const directoryPath = s.string(about, { ...pathRules, default: "." });
export const key = (description: string) => s.string(description, { pattern: id });
export const sha256 = (description: string) => s.string(description, { pattern: "^[0-9a-f]{64}$" });
/** 5 MiB in base64. */
export const content = s.string("The content, at most 5 MiB after decoding.", { maxLength: 6_990_508 });
export const existed = s.boolean("Whether something stood there before this call.");
export const already = s.boolean("True when nothing had to be done.");
export const size = s.integer("Size in bytes.");

export const backupResidue = {
  id: "fs-backup",
  text: "The backup directory keeps a copy and a record of the old file.",
};

/** Earlier steps on an overlapping path: undone only after this one. */
export const overlapping = <Own extends string>(own: Own, ...tools: readonly (keyof typeof earlier)[]) =>
  tools.flatMap((tool) =>
    earlier[tool].map((source) => ({
      tool: `fs.${tool}`,
      match: { [own]: { overlaps: source } } as { readonly [K in Own]: { readonly overlaps: string } },
    })),
  );
const earlier = {
  write_file: ["args.path"],
  delete_file: ["args.path"],
  move_file: ["args.from", "args.to"],
  make_dir: ["result.created"],
} as const;
