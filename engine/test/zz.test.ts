import { live } from "./support/history.ts";
import { rules } from "./support/rules.ts";
test("table", async () => {
  Error.stackTraceLimit = 0;
  const out: string[] = [];
  for (const [name, { breaks: _, ...without }] of Object.entries(rules)) {
    const t: Record<string, number> = {};
    for (let n = 1; n <= 1500; n++) for (const b of await live(n, without).then((x) => x.broken, () => ["threw"])) t[b] = (t[b] ?? 0) + 1;
    out.push(`${name}: ${JSON.stringify(t)}`);
  }
  process.stdout.write(out.join("\n") + "\n");
}, 900_000);
