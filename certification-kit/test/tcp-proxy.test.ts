import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TcpProxy, tcpProxy } from "../src/index.ts";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A backend that answers each line with `ok <line>`, behind a proxy. */
async function started() {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on("error", () => {})
      .on("data", (chunk) => {
        for (const line of chunk.toString().split("\n").filter(Boolean)) {
          lines.push(line);
          socket.write(`ok ${line}\n`);
        }
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await tcpProxy({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  endings.push(
    () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
    () => proxy.close(),
  );
  return { proxy, lines };
}

/** A client that remembers what it was told. */
async function client({ port }: TcpProxy) {
  const socket = connect(port, "127.0.0.1");
  endings.push(() => socket.destroy());
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => socket.on("error", () => {}).on("close", () => resolve()));
  await once(socket, "connect");
  return {
    closed,
    heard: () => heard,
    send: (text: string) => void socket.write(text),
    async ask(text: string) {
      const from = heard.length;
      socket.write(`${text}\n`);
      await once(socket, "data");
      return heard.slice(from);
    },
  };
}

test("without a fault it passes on everything, and remembers what was sent", async () => {
  const { proxy } = await started();
  const { ask } = await client(proxy);
  expect(await ask("one")).toBe("ok one\n");
  expect(await ask("two")).toBe("ok two\n");
  expect(proxy.sent.map(String)).toEqual(["one\ntwo\n"]);
  proxy.forget();
  await ask("three");
  expect(proxy.sent.map(String)).toEqual(["three\n"]);
});

test("cuts before what matches: the backend never sees it", async () => {
  const { proxy, lines } = await started();
  const { ask, send, closed, heard } = await client(proxy);
  await ask("one");
  proxy.inject({ kind: "cutBefore", at: "COMMIT" });
  send("two\nCOMMIT\n");
  await closed;
  const again = await client(proxy);
  await again.ask("three");
  expect(lines).toEqual(["one", "two", "three"]);
  expect(heard()).toBe("ok one\n");
});

test("cuts after so many bytes: the backend has acted, and the client is not told", async () => {
  const { proxy, lines } = await started();
  const { send, closed, heard } = await client(proxy);
  proxy.inject({ kind: "cutAfter", at: 4 });
  send("one\n");
  await closed;
  expect(lines).toEqual(["one"]);
  expect(heard()).toBe("");
  expect(await (await client(proxy)).ask("two")).toBe("ok two\n");
});

test("delivers late: not before `settle()`, though the client is gone", async () => {
  const { proxy, lines } = await started();
  const { send, closed } = await client(proxy);
  proxy.inject({ kind: "late", at: Buffer.from("one") });
  send("one\n");
  await closed;
  expect(lines).toEqual([]);
  await proxy.settle();
  expect(lines).toEqual(["one"]);
});

test.each([
  [true, ["one"]],
  [false, []],
])("hangs for ever, with an effect: %s", async (effect, expected) => {
  const { proxy, lines } = await started();
  const { send, closed, heard } = await client(proxy);
  proxy.inject({ kind: "hang", at: "one", effect });
  send("one\n");
  const other = await client(proxy);
  await other.ask("two");
  expect(lines.filter((line) => line !== "two")).toEqual(expected);
  expect(heard()).toBe("");
  await proxy.clear();
  await closed;
});

test("cuts the answer after so many bytes", async () => {
  const { proxy } = await started();
  const { send, closed, heard } = await client(proxy);
  proxy.inject({ kind: "cutAnswer", at: "one", bytes: 4 });
  send("one\n");
  await closed;
  expect(heard()).toBe("ok o");
});

test("refuses connections until it is cleared", async () => {
  const { proxy } = await started();
  const before = await client(proxy);
  proxy.inject({ kind: "refuse" });
  await before.closed;
  const refused = connect(proxy.port, "127.0.0.1");
  const [error] = await once(refused, "error").catch((thrown) => [thrown]);
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
  await proxy.clear();
  expect(await (await client(proxy)).ask("again")).toBe("ok again\n");
});
