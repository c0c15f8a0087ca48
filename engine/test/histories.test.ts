import { live } from "./support/history.ts";
import { rules } from "./support/rules.ts";

// HISTORIES=100000 lives more of them; HISTORIES_SEED=17 lives one and prints it.
const seed = Number(process.env["HISTORIES_SEED"] ?? 0);
const count = Number(process.env["HISTORIES"] ?? 5_000);
const longMs = 20_000 + count * 60;

const told = (number: number, broken: readonly string[], trace: readonly string[]) =>
  `seed ${number} broke: ${broken.join(", ")} (HISTORIES_SEED=${number} lives it again)\n${trace.join("\n")}`;

beforeAll(() => {
  // Thousands of errors are made and forgotten here; their stacks are nobody's concern.
  Error.stackTraceLimit = seed > 0 ? 10 : 0;
});

if (seed > 0) {
  test(`history ${seed}`, async () => {
    const { broken, trace } = await live(seed);
    process.stdout.write(`${told(seed, broken, trace)}\n`);
    expect(broken).toEqual([]);
  });
} else {
  test(
    `${count} histories break no invariant`,
    async () => {
      for (let number = 1; number <= count; number++) {
        const { broken, trace } = await live(number);
        if (broken.length > 0) throw new Error(told(number, broken, trace));
      }
    },
    longMs,
  );

  describe("each rule switched off breaks what it is there for:", () => {
    for (const [name, { breaks, ...without }] of Object.entries(rules)) {
      test(
        name,
        async () => {
          const broken = new Set<string>();
          for (let number = 1; number <= 6_000 && !breaks.some((one) => broken.has(one)); number++)
            for (const one of (await live(number, without)).broken) broken.add(one);
          expect(breaks.filter((one) => broken.has(one))).not.toEqual([]);
        },
        longMs,
      );
    }
  });
}
