// A real server behind the wire of the sandboxes: the same faults happen to it, and whatever reaches it, it answers itself.
import { Pool } from "undici";
import { built } from "./support.js";

/** What belongs to one connection, or is said anew. */
const ownToConnection = ["connection", "keep-alive", "transfer-encoding"];
const passing = ([name]) => !ownToConnection.includes(name.toLowerCase());

/** Hands a request on as it came, host and all: it is part of what was signed. */
async function forward(pool, { method, path, rawHeaders, bytes }) {
  const pairs = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]]] : []));
  const headers = pairs.filter(passing).flat();
  const {
    statusCode: status,
    headers: answered,
    body,
  } = await pool.request({
    ...{ method, path, headers, body: bytes.length > 0 ? bytes : null },
  });
  const content = Buffer.from(await body.arrayBuffer());
  return {
    status,
    headers: Object.fromEntries(Object.entries(answered).filter(passing)),
    body: content.length > 0 ? content : undefined,
  };
}

/**
 * Starts it in front of the server at `address`. `vendor` is how the faults are worded: `errorBody` and `rateLimit` of
 * the sandboxes' options.
 */
export async function front({ address, ca, vendor }) {
  const { startSandbox } = await built("http/dist/sandbox.js");
  const pool = new Pool(new URL(address).origin, { connect: { ca } });
  let before;
  const server = await startSandbox({
    ...vendor,
    async handle(request) {
      const changing = before;
      before = undefined;
      await changing;
      return forward(pool, request);
    },
  });
  return {
    server,
    address: server.url,
    /** The wire of the server behind: it waits for what somebody else changes there right before a request. */
    wire(kit, options) {
      const wire = kit.http(server, options);
      return {
        ...wire,
        get requests() {
          return wire.requests;
        },
        get mistakes() {
          return wire.mistakes;
        },
        before: (skip, action) =>
          wire.before(skip, () => {
            before = action();
          }),
      };
    },
    async close() {
      await server.close();
      await pool.close();
    },
  };
}
