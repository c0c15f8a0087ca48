import { assert as hold, type IAsyncProperty, type IProperty } from "fast-check";

// REVERSI_FUZZ_RUNS=100 tries a hundred times as much. A failure prints its seed; REVERSI_FUZZ_SEED=17 takes another one.
const factor = Number(process.env["REVERSI_FUZZ_RUNS"] ?? 1);
const seed = Number(process.env["REVERSI_FUZZ_SEED"] ?? 20_260_101);
const aloneMs = 30_000;

/** A test that a sentence holds for `runs` generated cases; the smallest one that breaks it is printed with its seed. */
export function always<Case>(
  sentence: string,
  runs: number,
  property: IProperty<Case> | IAsyncProperty<Case>,
): void {
  const numRuns = Math.max(1, Math.round(runs * factor));
  const parameters = { numRuns, seed };
  test(sentence, async () => hold(property, parameters), aloneMs * Math.max(1, factor));
}
