// Names as people and programs give them to objects: each is one object, for the connector and for the vendor's SDK.
import assert from "node:assert/strict";
import fc from "fast-check";

const piece = fc.oneof(
  fc.constantFrom(
    "a",
    "A",
    " ",
    "%",
    "%20",
    "%2F",
    "+",
    "&",
    "=",
    "?",
    "#",
    ";",
    ":",
    "@",
    "'",
    '"',
    "<",
    "~",
    "(",
    "*",
  ),
  fc.constantFrom(
    ".",
    "..",
    "/",
    "//",
    "\\",
    "ü",
    "u\u0308",
    "é",
    "\u202e",
    "\ufeff",
    "🎈",
    "\t",
    "\u007f",
    "|",
    "^",
    "`",
  ),
  fc.string({ unit: "grapheme", maxLength: 4 }),
);
const name = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => `n/${pieces.join("")}`);
/** The same ones every time. */
const names = fc.sample(fc.uniqueArray(name, { minLength: 150, maxLength: 150 }), { numRuns: 1, seed: 7 })[0];

/**
 * What one side writes under a name the other one reads under it, and no two names meet. `ours` and `theirs` are
 * `{ write(name, text), read(name) }`, `list()` is what the SDK lists below `n/`.
 */
export async function eachIsOne({ ours, theirs, list }) {
  const kept = [];
  for (const [at, name] of names.entries()) {
    try {
      await ours.write(name, `ours ${at}`);
      kept.push([name, at]);
    } catch (error) {
      // Names that the vendor, or something on the way, would take for another one.
      assert.equal(error.name, "InvalidArgumentsError", `${JSON.stringify(name)}: ${error.message}`);
    }
  }
  assert.ok(kept.length > 50, `${kept.length} of ${names.length}`);
  for (const [name, at] of kept) assert.equal(await theirs.read(name), `ours ${at}`, JSON.stringify(name));
  for (const [name, at] of kept) await theirs.write(name, `theirs ${at}`);
  for (const [name, at] of kept) assert.equal(await ours.read(name), `theirs ${at}`, JSON.stringify(name));
  assert.deepEqual((await list()).sort(), kept.map(([name]) => name).sort());
}
