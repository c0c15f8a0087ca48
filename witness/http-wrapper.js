// The server object of `serve`, over HTTP and for tests alone: a conformance suite speaks nothing else.
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { built } from "./support.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** `cli`'s own sources: its build is one program, of which nothing can be taken. */
async function cliModule() {
  const { build } = createRequire(`${root}/package.json`)("esbuild");
  const folder = fileURLToPath(new URL("node_modules/.cache", import.meta.url));
  const outfile = `${folder}/cli.mjs`;
  mkdirSync(folder, { recursive: true });
  const contents =
    'export { mcpServer } from "./mcp.ts"; export { instructionsFor, offeredTools, spellings } from "./offer.ts";';
  await build({
    stdin: { contents, resolveDir: `${root}/cli/src`, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    outfile,
  });
  return import(outfile);
}

/** Serves a connector; one server object for each session, as each process of `serve` has one. */
export async function serveOverHttp(connector, options) {
  const { mcpServer, offeredTools, spellings, instructionsFor } = await cliModule();
  const { definition, [connector]: connect } = await built(`connectors/${connector}/dist/index.js`);
  const ours = connect(options);
  const flags = { list: () => [], text: () => undefined, on: () => false };
  const tools = offeredTools([{ definition, connector: ours, missing: [] }], flags);
  const silent = { error() {}, warn() {}, info() {}, debug() {}, say() {} };
  const offer = {
    name: `reversi-${connector}`,
    version: "0.0.0",
    instructions: instructionsFor(tools),
    tools,
    byName: spellings(tools),
    approval: "refuse",
    maxResultBytes: 2 ** 20,
    checkpointTimeoutMs: 10_000,
    log: silent,
  };
  const sessions = new Map();
  const open = [];

  async function transportFor(request) {
    const known = sessions.get(request.headers["mcp-session-id"]);
    if (known) return known;
    const { port } = http.address();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableDnsRebindingProtection: true,
      allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
      allowedOrigins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = mcpServer(offer);
    open.push(server);
    await server.connect(transport);
    return transport;
  }

  const http = createServer(async (request, response) => {
    try {
      await (await transportFor(request)).handleRequest(request, response);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    async close() {
      for (const server of open) await server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await ours.close();
    },
  };
}
