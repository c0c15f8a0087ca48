import type { Socket } from "node:net";
import { InvalidArgumentsError } from "@reversi-connector/core";
import type { Dispatcher } from "undici";

export interface WireOptions {
  readonly origin: string;
  readonly ca: string | undefined;
  readonly connectTimeoutMs: number;
  readonly connections: number;
}

/** Something that sends requests, until it is destroyed with all its sockets. */
export interface Wire {
  readonly dispatcher: Dispatcher;
  destroy(): void;
}

const proxyVariables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];
const limits = { headersTimeout: 0, pipelining: 1, allowH2: false } as const;

async function openProxied({ ca, connectTimeoutMs, connections }: WireOptions): Promise<Wire> {
  // Tunnels need methods that only undici's own entry puts on its classes.
  const { EnvHttpProxyAgent, Pool } = await import("undici");
  const tls = { timeout: connectTimeoutMs, ...(ca !== undefined && { ca }) };
  try {
    const dispatcher = new EnvHttpProxyAgent({
      ...limits,
      connections,
      connect: tls,
      requestTls: tls,
      proxyTls: { timeout: connectTimeoutMs },
      clientFactory(proxy, options) {
        const pool = new Pool(proxy, options);
        const connect = pool.connect.bind(pool);
        // undici takes a tunnel's error of this class for a connection to be made again, at once and for ever.
        const tunnel = async (request: Parameters<typeof connect>[0]) => {
          try {
            return await connect(request);
          } catch (error) {
            const { code, message } = error as NodeJS.ErrnoException;
            if (code !== "UND_ERR_SOCKET" && code !== "UND_ERR_INFO") throw error;
            throw Object.assign(new Error(`the proxy hung up (${message})`), { code: "ECONNRESET" });
          }
        };
        return Object.assign(pool, { connect: tunnel });
      },
    });
    return { dispatcher, destroy: () => void dispatcher.destroy() };
  } catch {
    // The error of a malformed address holds it whole, with the proxy's password.
    throw new InvalidArgumentsError("HTTPS_PROXY or HTTP_PROXY is not the address of a proxy");
  }
}

async function openDirect({ origin, ca, connectTimeoutMs, connections }: WireOptions): Promise<Wire> {
  const [{ default: Pool }, { default: buildConnector }] = await Promise.all([
    import("undici/lib/dispatcher/pool.js"),
    import("undici/lib/core/connect.js"),
  ]);
  const connect = buildConnector({ timeout: connectTimeoutMs, ...(ca !== undefined && { ca }) });
  const connecting = new Set<Socket>();
  const dispatcher = new Pool(origin, {
    ...limits,
    connections,
    connect(options, callback) {
      // The declared type lacks what every connector returns: the socket, before it is connected.
      const socket = connect(options, callback) as unknown as Socket;
      connecting.add(socket);
      const forget = () => connecting.delete(socket);
      socket.once("connect", forget).once("close", forget);
    },
  });
  const destroy = () => {
    void dispatcher.destroy();
    for (const socket of connecting) socket.destroy();
  };
  return { dispatcher, destroy };
}

/** undici, loaded at the first request; through the environment's proxy when it names one. */
export const openWire = (options: WireOptions): Promise<Wire> =>
  proxyVariables.some((name) => process.env[name]) ? openProxied(options) : openDirect(options);
