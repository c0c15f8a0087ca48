import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

const accepted = new Set<Socket>();
let anchor: Promise<Server> | undefined;

/** Where connections end that only keep a port; one for the whole process, which it does not keep alive. */
const theAnchor = () =>
  new Promise<Server>((resolve, reject) => {
    const server = createServer((socket) => {
      accepted.add(socket.unref());
      socket.on("error", () => {}).on("close", () => accepted.delete(socket));
    }).unref();
    server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server));
  });

/**
 * Keeps a port that nobody listens on from everybody else: a connection of our own comes from it, so it refuses
 * connections, and the system gives it to nobody. Resolves with the function that does so, which waits for nothing.
 */
export async function portKeeper(): Promise<(port: number) => { end(): void }> {
  anchor ??= theAnchor();
  const { port: to } = (await anchor).address() as AddressInfo;
  return (port) => {
    const from = connect({ port: to, host: "127.0.0.1", localAddress: "127.0.0.1", localPort: port }).unref();
    from.on("error", () => {});
    return { end: () => void from.destroy() };
  };
}
