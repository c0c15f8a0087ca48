import { compensatorFor } from "@reversi-connector/core";
import { fileJournal, Registry, type RollbackReport, Run } from "@reversi-connector/engine";
import type { pad as padOf } from "./pad.ts";

type Pad = ReturnType<typeof padOf>;
type Called = Pad & { readonly tools: { readonly "pad.note": Pad["tools"][string] } };

/** The sample of README.md, word for word between the marks. */
export async function sample(pad: Called, console: { log(...said: unknown[]): void }) {
  const connectors = [pad];
  // begin
  const registry = Registry.from(connectors.flatMap((c) => c.manifests));
  const run = await Run.open({ registry, journal: fileJournal("./reversi-data"), scope: ["pad:write"] });

  const { result, undo } = await run.call({
    tool: "pad.note",
    args: { name: "shopping", text: "milk" },
    reason: "the user asked for it",
    execute: (args, context) => pad.tools["pad.note"](args, context),
  });

  const report = await run.rollback({ compensate: compensatorFor(connectors) });
  console.log(report.status, report.counts);
  await run.close();
  // end
  return { result, undo };
}

/** The sample of the connectors page, word for word but for the names it leaves open. */
export async function page(
  connectors: readonly [{ readonly tools: Readonly<Record<"pad.note", Pad["tools"][string]>> } & Pad],
): Promise<RollbackReport> {
  const [tool, args, reason] = ["pad.note", { name: "a", text: "b" }, "because"] as const;
  const registry = Registry.from(connectors.flatMap((c) => c.manifests));
  const run = await Run.open({ registry, journal: fileJournal("./reversi-data") });
  await run.call({ tool, args, reason, execute: (a) => connectors[0].tools[tool](a, {}) });
  const report = await run.rollback({ compensate: compensatorFor(connectors) });
  await run.close();
  return report;
}
