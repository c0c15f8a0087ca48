/** What a program ends with when it was started wrongly. */
const usageExitCode = 64;

/** A reason to end that the user can put right: one line on stderr, and an exit code. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly exitCode: number;
  constructor(message: string, code: number = usageExitCode) {
    super(message);
    this.exitCode = code;
  }
}

/** How many letters one must change to make `b` of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** ` Did you mean a or b?` with the known words nearest to this one, three at most; nothing when none is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = [...known]
    .map((candidate) => ({ candidate, far: candidate.startsWith(word) ? 0 : distance(word, candidate) }))
    .filter(({ candidate, far }) => far <= Math.max(1, Math.max(word.length, candidate.length) >> 2))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3);
  return near.length === 0 ? "" : ` Did you mean ${near.map(({ candidate }) => candidate).join(" or ")}?`;
}
