import { forwardMutants } from "./mutants/forward.ts";
import { eachIsRejected } from "./mutants/rejected.ts";

eachIsRejected(forwardMutants);
