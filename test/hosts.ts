import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A self-signed certificate, made here and now, for names such as `DNS:localhost`. */
export function certificateFor(...names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "reversi-certificate-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=sandbox";
    const what = `-addext subjectAltName=${names.join(",")} -keyout ${key} -out ${cert}`;
    execFileSync("openssl", `${how} ${what}`.split(" "), { stdio: "ignore" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A proxy that leads every name to one server, and remembers the names in order. */
async function proxyTo(address: string) {
  const hosts: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", (head) => {
      hosts.push(/^CONNECT (\S+)/.exec(head.toString())?.[1] ?? "");
      const onward = connect(Number(new URL(address).port), "127.0.0.1", () => {
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

/** Runs `work` while every host name leads to one server; `hosts` is filled with those that were asked for, in order. */
export async function everyHostAt(address: string, work: (hosts: readonly string[]) => Promise<void>) {
  const proxy = await proxyTo(address);
  const before = { ...process.env };
  process.env["HTTPS_PROXY"] = proxy.url;
  process.env["NO_PROXY"] = process.env["no_proxy"] = "";
  try {
    await work(proxy.hosts);
  } finally {
    process.env = before;
    await proxy.close();
  }
}
