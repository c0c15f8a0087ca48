import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aws } from "../src/index.ts";
import { keys } from "../src/sandbox/wire.ts";
import { type AwsSandbox, current, sandbox } from "../src/sandbox.ts";

/** A certificate for Amazon's names, made here and now; like Amazon's it covers one label before them. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), "reversi-aws-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const names = "DNS:s3.eu-central-1.amazonaws.com,DNS:*.s3.eu-central-1.amazonaws.com";
    const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=sandbox -addext subjectAltName=${names} -keyout ${key} -out ${cert}`;
    execFileSync("openssl", command.split(" "), { stdio: "ignore" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A proxy that leads every name to the sandbox, and remembers the names. */
async function proxyTo(backend: AwsSandbox) {
  const hosts: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", (head) => {
      hosts.push(/^CONNECT (\S+)/.exec(head.toString())?.[1] ?? "");
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

test("S3-17: at Amazon's own host names every request is accepted, for buckets with and without dots", async () => {
  const tls = certificate();
  const backend = await sandbox({ tls });
  const proxy = await proxyTo(backend);
  const before = { ...process.env };
  process.env["HTTPS_PROXY"] = proxy.url;
  process.env["NO_PROXY"] = process.env["no_proxy"] = "";
  const connector = aws({ ...keys, region: "eu-central-1", ca: tls.cert });
  try {
    const call = async (name: string, args: object) =>
      (await connector.tools[`aws.${name}`]?.(args)) as Record<string, unknown>;
    for (const bucket of ["notes", "versioned.notes"]) {
      for (const key of ["ü/ñ +&=.txt", "/leading//double/"]) {
        const place = { bucket, key };
        await call("put_object", { ...place, content: "one" });
        const { backup_key, sha256, guarded } = await call("put_object", { ...place, content: "two" });
        expect(guarded).toBe(true);
        expect(await call("get_object", place)).toMatchObject({ content: "two" });
        await call("restore_object", { ...place, backup_key, expected_sha256: sha256 });
        expect(current(backend.bucket(bucket), key)?.content.toString()).toBe("one");
      }
      const { objects } = await call("list_objects", { bucket });
      expect(objects).toEqual(
        expect.arrayContaining([expect.objectContaining({ key: "/leading//double/" })]),
      );
    }
    expect([...new Set(proxy.hosts)].sort()).toEqual([
      "notes.s3.eu-central-1.amazonaws.com:443",
      "s3.eu-central-1.amazonaws.com:443",
    ]);
    // Amazon is documented to hold writes to their conditions: it is not tried.
    const trials = backend.requests.filter(({ headers, status }) => headers["if-match"] && status === 404);
    expect(trials).toEqual([]);
  } finally {
    process.env = before;
    await connector.close();
    await proxy.close();
    await backend.close();
  }
});
