import { execFileSync } from "node:child_process";

test("PG-11: every type comes back to the byte in a zone with summer time too", () => {
  const jest = new URL("../../../node_modules/jest/bin/jest.js", import.meta.url).pathname;
  const config = new URL("../../../jest.package.js", import.meta.url).pathname;
  const root = new URL("..", import.meta.url).pathname;
  const flags = ["-c", config, "--rootDir", root, "--runInBand", "--testPathPatterns", "types.test"];
  execFileSync(process.execPath, ["--experimental-vm-modules", jest, ...flags], {
    env: { ...process.env, TZ: "Europe/Berlin" },
    stdio: "pipe",
  });
}, 120_000);
