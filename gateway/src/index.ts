export { type CommandCompensator, type CommandOptions, commandCompensator } from "./operator/compensator.ts";
export { loadManifests } from "./shared/manifests.ts";
