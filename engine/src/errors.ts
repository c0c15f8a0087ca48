const brand = Symbol.for("@reversi-connector/engine/error");
const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? (error as { [brand]?: unknown })[brand] : undefined;

/** Told apart by a brand, as the errors of core: another installed copy is recognised too. */
abstract class EngineError<Code extends string> extends Error {
  readonly code: Code;
  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
    Object.defineProperty(this, brand, { value: code });
  }
}

/** The call was refused before anything was sent: fenced, outside the scope, not approved, or without a manifest. */
export class RefusedError extends EngineError<"REFUSED"> {
  override readonly name = "RefusedError";
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason, message: string) {
    super("REFUSED", message);
    this.reason = reason;
  }
  static is = (error: unknown): error is RefusedError => codeOf(error) === "REFUSED";
}
export type RefusalReason = "fenced" | "no_manifest" | "scope" | "approval";

/** The journal was changed after it was written. Says at which line; nothing is done on its word. */
export class JournalDamagedError extends EngineError<"JOURNAL_DAMAGED"> {
  override readonly name = "JournalDamagedError";
  readonly run: string;
  /** The first line, counted from 1, that cannot be believed. */
  readonly line: number;
  constructor(run: string, line: number, what: string) {
    super(
      "JOURNAL_DAMAGED",
      `run ${run}: the journal is damaged at line ${line}: ${what}. Nothing was undone. ` +
        "Put back an intact copy of the file, or undo the run by hand.",
    );
    this.run = run;
    this.line = line;
  }
  static is = (error: unknown): error is JournalDamagedError => codeOf(error) === "JOURNAL_DAMAGED";
}

/** Another process writes this run; two writers would tear its journal apart. */
export class RunBusyError extends EngineError<"RUN_BUSY"> {
  override readonly name = "RunBusyError";
  constructor(run: string, holder: string) {
    super("RUN_BUSY", `run ${run} is in use by ${holder}. End that process first.`);
  }
  static is = (error: unknown): error is RunBusyError => codeOf(error) === "RUN_BUSY";
}
