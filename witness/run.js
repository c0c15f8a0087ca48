// Runs all witnesses, or those named: `npm test`, `npm test -- github mcp`.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "reversi-witness-"));
const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];

const all = ["connectors", "mcp"].flatMap((place) =>
  readdirSync(join(here, place))
    .filter((name) => name.endsWith(".js"))
    .map((name) => join(place, name)),
);
const wanted = process.argv.slice(2);
const files = wanted.length === 0 ? all : all.filter((file) => wanted.some((name) => file.includes(name)));

function certify() {
  const names = "subjectAltName=IP:127.0.0.1,DNS:localhost";
  const command = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext ${names} -addext basicConstraints=critical,CA:TRUE -keyout ${key} -out ${cert}`;
  execFileSync("openssl", command.split(" "), { stdio: "ignore" });
}

try {
  if (!existsSync(join(here, "../core/dist/index.js"))) {
    throw new Error("nothing is built yet: run `npm ci && npm run build` in the root of the repository");
  }
  if (files.length === 0) throw new Error(`no file is named ${wanted.join(" or ")}`);
  certify();
  const child = spawn(
    process.execPath,
    [
      "--test",
      "--test-concurrency=1",
      `--test-reporter=${join(here, "report.js")}`,
      "--test-reporter-destination=stdout",
      ...files,
    ],
    {
      cwd: here,
      stdio: "inherit",
      env: {
        ...process.env,
        NODE_OPTIONS: "",
        NODE_EXTRA_CA_CERTS: cert,
        HOME: folder,
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
        // The record is of a whole run.
        WITNESS_RECORD: wanted.length === 0 ? join(here, "record.json") : "",
      },
    },
  );
  process.exitCode = await new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
} finally {
  rmSync(folder, { recursive: true });
}
