export { type LongLine, lineSplitter, maxLineBytes } from "./lines.ts";
export { didYouMean, UsageError } from "./usage.ts";
