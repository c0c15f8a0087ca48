import { eachIsRejected } from "./mutants/rejected.ts";
import { secretMutants } from "./mutants/secrets.ts";

eachIsRejected(secretMutants);
