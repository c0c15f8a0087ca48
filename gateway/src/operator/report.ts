import type {
  DryRunReport,
  DryRunStep,
  Group,
  ReportedStep,
  RollbackReport,
} from "@reversi-connector/engine";
import { callText, counted, paint, short } from "./output.ts";

type Colour = Parameters<typeof paint>[0];

/** What each group means, and what to do about it. Those that need somebody come last, where they are seen. */
const groups: readonly (readonly [group: Group, colour: Colour, meaning: string])[] = [
  ["compensated", "green", "undone, and read back"],
  ["not_applied", "green", "never took effect"],
  ["rejected", "green", "was refused before anything was sent"],
  [
    "compensated_unverified",
    "yellow",
    "undone, but could not be read back; --accept-unverified counts it as done",
  ],
  ["standing", "yellow", "not undone"],
  ["deferred", "yellow", "waits for a later step that is not settled"],
  [
    "compensation_uncertain",
    "yellow",
    "the undo was sent and its outcome is unknown; roll back again, which looks first",
  ],
  [
    "uncertain",
    "yellow",
    "nobody knows whether it took effect; roll back again later, or settle it with reversi resolve",
  ],
  ["conflict", "red", "somebody else changed it since; --force-conflicts overwrites that"],
  ["compensation_failed", "red", "the undo failed; put right what it says and roll back again"],
  ["unresolvable", "red", "its undo cannot be made; undo it by hand, then settle it with reversi resolve"],
  ["no_compensation", "red", "nothing undoes it"],
  ["unrecoverable", "red", "cannot be undone"],
];

function stepText(step: ReportedStep, width: number): string {
  const { tool, undo, message, already, waits_for, reason } = step;
  const parts = [
    undo && `by ${short(undo.tool)}`,
    already && "was so already",
    waits_for && `waits for ${waits_for.join(", ")}`,
    reason === "verification" && "it answered well, and the backend does not show it",
    message && reason !== "verification" && short(message, 300),
  ].filter((part) => part);
  return `    ${String(step.step).padStart(width)}  ${short(tool)}${parts.length > 0 ? `  ${parts.join("; ")}` : ""}\n`;
}

/** A rollback's report for people. */
export function reportText({ run, status, groups: found, residue }: RollbackReport): string {
  const steps = Object.values(found).flat();
  const width = String(Math.max(0, ...steps.map(({ step }) => step))).length;
  let text = `Run ${run}: ${paint(status === "complete" ? "green" : "red", status)}\n`;
  if (steps.length === 0) text += "  It has no step that writes.\n";
  for (const [group, colour, meaning] of groups) {
    const members = found[group] ?? [];
    if (members.length === 0) continue;
    text += `  ${paint(colour, `${group} (${members.length})`)}: ${meaning}\n`;
    for (const step of [...members].sort((a, b) => b.step - a.step)) text += stepText(step, width);
  }
  if (residue.length > 0) {
    text += "  Left behind, as the tools declare:\n";
    for (const left of residue)
      text += `    ${String(left.step).padStart(width)}  ${short(left.tool)}: ${short(left.text, 300)}\n`;
  }
  return text;
}

const prospects: Readonly<Record<DryRunStep["now"], Colour>> = {
  "would undo": "green",
  "already undone": "green",
  "nothing to undo": "green",
  "cannot tell": "yellow",
  conflict: "red",
  "cannot undo": "red",
};

/** What a rollback would do, for people. */
export function dryRunText({ run, steps }: DryRunReport): string {
  let text = `Run ${run}: nothing was changed. A rollback would take ${counted(steps.length, "step")}, in this order:\n`;
  for (const { step, tool, now, undo, message, waits_for = [], residue = [] } of steps) {
    text += `  ${step}  ${short(tool)}  ${paint(prospects[now], now)}\n`;
    if (undo) text += `      undo: ${callText(undo)}\n`;
    if (waits_for.length > 0) text += `      first: ${waits_for.join(", ")}\n`;
    if (message !== undefined) text += `      ${short(message, 300)}\n`;
    for (const left of residue) text += `      stays: ${short(left.text, 300)}\n`;
  }
  return text;
}
