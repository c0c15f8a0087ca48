import { certify } from "../../src/index.ts";
import type { Mutant } from "./mutant.ts";

/** The checks that failed, and those that did not run for another reason than one of these. */
async function verdictOn({ subject, tools }: Mutant) {
  const { checks, guarantees } = await certify(subject, { tools });
  const all = [...checks, ...guarantees];
  const failed = all.filter(({ status }) => status === "fail");
  const blocked = all.flatMap((result) =>
    result.status === "not_run" && !["contract", "witness"].includes(result.name)
      ? result.reason.split("; ")
      : [],
  );
  const unexplained = blocked.filter(
    (reason) => !failed.some(({ title }) => reason.startsWith(`${title} failed`)),
  );
  const seen = failed.map((result) =>
    result.status === "fail"
      ? `${result.name}: ${result.failures[0]?.case}: ${result.failures[0]?.message}`
      : "",
  );
  return { failed: failed.map(({ name }) => name), unexplained, seen };
}

/** Tests that each of these is rejected by the checks it is meant for, and by no other. */
export function eachIsRejected(mutants: readonly Mutant[]): void {
  // Some mutants print their credential; nobody else needs to read it.
  const { error } = console;
  const { write } = process.stderr;
  beforeAll(() => {
    console.error = () => {};
    process.stderr.write = () => true;
  });
  afterAll(() => {
    console.error = error;
    process.stderr.write = write;
  });

  test.each(mutants)(
    "$name fails $fails and nothing else",
    async (mutant) => {
      const { failed, unexplained, seen } = await verdictOn(mutant);
      expect({
        failed: [...failed].sort(),
        unexplained,
        ...(failed.length === mutant.fails.length ? {} : { seen }),
      }).toEqual({
        failed: [...mutant.fails].sort(),
        unexplained: [],
      });
    },
    60_000,
  );
}
