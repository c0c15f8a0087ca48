import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpTarget {
  readonly host: string;
  readonly port: number;
}
/** Where in the stream from client to backend something goes wrong: after so many bytes, or where these are found. */
export type TcpSpot = number | Buffer | string;

export type TcpFault =
  /** No connection is accepted until `clear()`, and those there are end. */
  | { readonly kind: "refuse" }
  /** The connection ends before what follows the spot, or what matches it, reaches the backend. */
  | { readonly kind: "cutBefore"; readonly at: TcpSpot }
  /** It reaches the backend; the connection ends before a byte of the answer comes back. */
  | { readonly kind: "cutAfter"; readonly at: TcpSpot }
  /** The connection of the client ends at once; the backend gets it at `settle()`. */
  | { readonly kind: "late"; readonly at: TcpSpot }
  /** From the spot on nothing goes either way; with `effect`, the backend gets what was sent. */
  | { readonly kind: "hang"; readonly at: TcpSpot; readonly effect?: boolean }
  /** The connection ends after so many bytes of what the backend answers from the spot on. */
  | { readonly kind: "cutAnswer"; readonly at: TcpSpot; readonly bytes: number };

/** A proxy between a client and a backend that knows nothing of what they speak. */
export interface TcpProxy {
  readonly host: string;
  readonly port: number;
  /** What clients sent, one buffer for each connection, since the last `forget()`. */
  readonly sent: readonly Buffer[];
  forget(): void;
  /** Arms one fault for the first connection whose stream gets to its spot, counted from now. */
  inject(fault: TcpFault): void;
  clear(): Promise<void>;
  /** Lets late deliveries reach the backend, and waits until it has answered them. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly backend: Socket;
  /** All that the client sent since the last `forget()`. */
  chunks: Buffer[];
  /** Sent by the client since the fault was armed, or since it connected. */
  seen: Buffer;
  mode: "through" | "silent" | "discard";
  /** Bytes of the answer that still pass; undefined when all do. */
  allowance: number | undefined;
}

/** Where the spot is in a stream: the end of what still passes. */
function endOf(at: TcpSpot, stream: Buffer, kind: TcpFault["kind"]): number {
  if (typeof at === "number") return stream.length >= at ? at : -1;
  const found = stream.indexOf(at);
  if (found === -1) return -1;
  const length = typeof at === "string" ? Buffer.byteLength(at) : at.length;
  return kind === "cutBefore" ? found : found + length;
}

/** Starts a proxy on 127.0.0.1. */
export async function tcpProxy(target: TcpTarget): Promise<TcpProxy> {
  const links = new Set<Link>();
  const late: { readonly backend: Socket; readonly bytes: Buffer }[] = [];
  const answered: Promise<unknown>[] = [];
  let received: Link[] = [];
  let armed: Exclude<TcpFault, { readonly kind: "refuse" }> | undefined;
  let refusing = false;

  const drop = (link: Link) => {
    links.delete(link);
    link.client.destroy();
    link.backend.destroy();
  };

  /** What the fault does to the chunk that reaches its spot. */
  function strike(fault: NonNullable<typeof armed>, link: Link, chunk: Buffer, passing: number): void {
    armed = undefined;
    const { client, backend } = link;
    switch (fault.kind) {
      case "cutBefore":
        backend.write(chunk.subarray(0, passing));
        client.destroy();
        backend.end();
        return;
      case "cutAfter":
        link.mode = "discard";
        backend.write(chunk);
        answered.push(new Promise((resolve) => backend.once("data", resolve).once("close", resolve)));
        backend.once("data", () => client.destroy());
        return;
      case "late":
        link.mode = "discard";
        late.push({ backend, bytes: chunk });
        client.destroy();
        return;
      case "hang":
        link.mode = "silent";
        if (fault.effect) backend.write(chunk);
        return;
      case "cutAnswer":
        link.allowance = fault.bytes;
        backend.write(chunk);
    }
  }

  function fromClient(link: Link, chunk: Buffer): void {
    if (link.mode === "silent") return;
    const before = link.seen.length;
    link.seen = Buffer.concat([link.seen, chunk]);
    const end = armed ? endOf(armed.at, link.seen, armed.kind) : -1;
    if (armed && end !== -1) strike(armed, link, chunk, Math.max(0, end - before));
    else link.backend.write(chunk);
  }

  function fromBackend(link: Link, chunk: Buffer): void {
    if (link.mode !== "through") return;
    if (link.allowance === undefined) return void link.client.write(chunk);
    const passes = chunk.subarray(0, link.allowance);
    link.allowance -= passes.length;
    if (link.allowance > 0) return void link.client.write(passes);
    link.client.write(passes, () => drop(link));
  }

  const server = createServer((client) => {
    const backend = connect(target);
    const link: Link = {
      ...{ client, backend, chunks: [], seen: Buffer.alloc(0) },
      ...{ mode: "through", allowance: undefined },
    };
    links.add(link);
    received.push(link);
    client
      .on("error", () => {})
      .on("data", (chunk: Buffer) => {
        link.chunks.push(chunk);
        fromClient(link, chunk);
      });
    backend.on("error", () => drop(link)).on("data", (chunk: Buffer) => fromBackend(link, chunk));
    client.on("close", () => link.mode === "through" && backend.end());
    backend.on("close", () => {
      if (link.mode !== "silent") client.destroy();
      links.delete(link);
    });
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  return {
    host: "127.0.0.1",
    port,
    get sent() {
      return received.map(({ chunks }) => Buffer.concat(chunks));
    },
    forget() {
      received = [...links];
      for (const link of received) link.chunks = [];
    },
    inject(fault) {
      for (const link of links) link.seen = Buffer.alloc(0);
      if (fault.kind !== "refuse") {
        armed = fault;
        return;
      }
      refusing = true;
      server.close();
      for (const link of links) drop(link);
    },
    async clear() {
      armed = undefined;
      for (const link of links) if (link.mode === "silent") drop(link);
      if (refusing) await listen(port);
      refusing = false;
    },
    async settle() {
      for (const { backend, bytes } of late.splice(0)) {
        answered.push(new Promise((resolve) => backend.once("data", resolve).once("close", resolve)));
        backend.write(bytes);
      }
      await Promise.all(answered.splice(0));
    },
    async close() {
      const closed = refusing ? undefined : new Promise((resolve) => server.close(resolve));
      for (const link of [...links]) drop(link);
      await closed;
    },
  };
}
