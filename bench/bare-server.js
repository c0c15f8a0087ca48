// The least that an MCP file server can be: the SDK's low-level server, plain reads and writes, no undo, no checks.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const root = process.argv[2] ?? ".";
const server = new Server({ name: "bare", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } };
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: ["read", "write"].map((name) => ({ name, inputSchema })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }) => {
  const path = join(root, args.path);
  if (name === "write") await writeFile(path, args.content);
  const text = name === "write" ? "written" : await readFile(path, "utf8");
  return { content: [{ type: "text", text }] };
});
await server.connect(new StdioServerTransport());
