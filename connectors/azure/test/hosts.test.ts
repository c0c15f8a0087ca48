import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { azure } from "../src/index.ts";
import { account, token } from "../src/sandbox/wire.ts";
import { type AzureSandbox, sandbox } from "../src/sandbox.ts";

const host = `${account}.blob.core.windows.net`;

/** A certificate for the account's host, made here and now. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), "reversi-azure-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=sandbox -addext subjectAltName=DNS:${host} -keyout ${key} -out ${cert}`;
    execFileSync("openssl", command.split(" "), { stdio: "ignore" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A proxy that leads every name to the sandbox, and remembers the names. */
async function proxyTo(backend: AzureSandbox) {
  const hosts = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", (head) => {
      hosts.add(/^CONNECT (\S+)/.exec(head.toString())?.[1] ?? "");
      const onward = connect(Number(new URL(backend.address).port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
      sockets.add(onward.on("error", () => {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return { hosts, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("without an endpoint everything goes to the account's own host, sources of copies included", async () => {
  const tls = certificate();
  const backend = await sandbox({ tls });
  const proxy = await proxyTo(backend);
  const before = { ...process.env };
  process.env["HTTPS_PROXY"] = proxy.url;
  process.env["NO_PROXY"] = process.env["no_proxy"] = "";
  const connector = azure({ token, account, ca: tls.cert });
  try {
    const call = async (name: string, args: object) =>
      (await connector.tools[`azure.${name}`]?.(args)) as Record<string, unknown>;
    const place = { container: "notes", blob: "ü/ñ +&=.txt" };
    await call("put_blob", { ...place, content: "one" });
    const { backup_key, sha256 } = await call("put_blob", { ...place, content: "two" });
    await call("restore_blob", { ...place, backup_key, expected_sha256: sha256 });
    expect(await call("get_blob", place)).toMatchObject({ content: "one" });
    expect((await call("list_blobs", { container: "notes" }))["next_cursor"]).toBeNull();
    expect([...proxy.hosts]).toEqual([`${host}:443`]);
    const sources = backend.requests.flatMap(({ headers }) => headers["x-ms-copy-source"] ?? []);
    expect(sources).toHaveLength(2);
    for (const source of sources) expect(source).toMatch(`https://${host}/notes/`);
  } finally {
    process.env = before;
    await connector.close();
    await proxy.close();
    await backend.close();
  }
});
