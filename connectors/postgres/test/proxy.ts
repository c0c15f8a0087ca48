import { connect as connectSocket, createServer, type Server, type Socket } from "node:net";

/**
 * What happens to the first statement that matches:
 * `before` it never arrives, and the connection is cut; `after` it arrives, and its answer is cut off;
 * `hang` it never arrives, and nothing happens; `mute` it arrives, and nothing comes back.
 */
export type Fault = "before" | "after" | "hang" | "mute";

/** A way to a server on which a connection can be lost at a chosen statement. */
export interface LossyProxy {
  readonly url: string;
  /** Statements are recognised by a word in them. */
  inject(fault: Fault, word: string): void;
  close(): Promise<void>;
}

export async function proxyTo(url: string): Promise<LossyProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let armed: { readonly fault: Fault; readonly word: string } | undefined;

  const server: Server = createServer((near) => {
    const far = connectSocket(Number(target.port), target.hostname);
    const pair = [near, far];
    for (const socket of pair) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        if (!muted) for (const other of pair) other.destroy();
      });
    }
    let muted = false;
    let cutting = false;
    near.on("data", (chunk) => {
      const { fault, word } = armed ?? {};
      if (word === undefined || !chunk.includes(word)) return void far.write(chunk);
      armed = undefined;
      if (fault === "before") near.resetAndDestroy();
      if (fault === "after") cutting = true;
      if (fault === "mute") muted = true;
      if (fault === "after" || fault === "mute") far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (muted) return;
      if (cutting) near.resetAndDestroy();
      else near.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = new URL(url);
  own.port = String((server.address() as { port: number }).port);
  return {
    url: own.href,
    inject(fault, word) {
      armed = { fault, word };
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
