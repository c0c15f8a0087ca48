import { eachIsRejected } from "./mutants/rejected.ts";
import { undoMutants } from "./mutants/undo.ts";

eachIsRejected(undoMutants);
