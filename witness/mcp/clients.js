import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as AiTransport } from "@ai-sdk/mcp/mcp-stdio";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { built, software, thrownBy } from "../support.js";

const { sandbox } = await built("connectors/github/dist/sandbox.js");
const program = fileURLToPath(new URL("../../cli/dist/bin/reversi-connectors.js", import.meta.url));
const me = { name: "witness", version: "1" };

/** `serve` with these arguments, as a client starts it. */
const serve = (...args) => ({ command: process.execPath, args: [program, "serve", ...args] });

/** Each client in one shape: its tools, a call, the protocol where it tells, and an end. */
const clients = {
  async [software("@modelcontextprotocol/sdk")](server) {
    const client = new ClientV1(me);
    await client.connect(new TransportV1({ ...server, stderr: "ignore" }));
    return {
      list: async () => (await client.listTools()).tools,
      call: (name, args) => client.callTool({ name, arguments: args }),
      server: () => client.getServerVersion(),
      close: () => client.close(),
    };
  },
  async [`${software("@modelcontextprotocol/client")} (auto)`](server) {
    const client = new ClientV2(me, { versionNegotiation: { mode: "auto" } });
    await client.connect(new TransportV2({ ...server, stderr: "ignore" }));
    return {
      list: async () => (await client.listTools()).tools,
      call: (name, args) => client.callTool({ name, arguments: args }),
      server: () => client.getServerVersion(),
      close: () => client.close(),
    };
  },
  async [software("@ai-sdk/mcp")](server) {
    const client = await createMCPClient({ transport: new AiTransport({ ...server, stderr: "ignore" }) });
    const tools = await client.tools();
    return {
      list: async () => (await client.listTools()).tools,
      // An unknown name never leaves this client.
      call: (name, args) => tools[name].execute(args, { toolCallId: "1", messages: [] }),
      close: () => client.close(),
    };
  },
  /** One process a call. */
  async [`${software("@modelcontextprotocol/inspector")} --cli`]({ command, args }) {
    const launcher = fileURLToPath(
      new URL(
        "../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
        import.meta.url,
      ),
    );
    const run = (...more) =>
      promisify(execFile)(process.execPath, [launcher, "--cli", command, ...args, ...more], {
        maxBuffer: 2 ** 26,
      }).then(
        ({ stdout }) => JSON.parse(stdout),
        (error) => {
          // It says so with exit code 5 when the tool says `isError`, and prints the result all the same.
          if (error.code === 5 && error.stdout !== "") return JSON.parse(error.stdout);
          throw error;
        },
      );
    return {
      list: async () => (await run("--method", "tools/list", "--strict")).tools,
      call: (name, given) =>
        run(
          "--method",
          "tools/call",
          "--tool-name",
          name,
          ...Object.entries(given).flatMap(([key, value]) => [
            "--tool-arg",
            `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
          ]),
        ),
      close: async () => {},
    };
  },
};

/** The tools that a connector has, by its own word. */
async function toolsOf(connector) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    "manifests",
    connector,
    "--format",
    "json",
  ]);
  return JSON.parse(stdout).map(({ tool }) => tool);
}

for (const [by, start] of Object.entries(clients)) {
  describe(`mcp by ${by}`, () => {
    /** Works with a client of its own, in a folder of its own. */
    const on = (server, use) => async () => {
      const root = mkdtempSync(join(tmpdir(), "reversi-witness-root-"));
      const backend = await sandbox();
      const client = await start(server(root, backend));
      try {
        await use(client, root, backend);
      } finally {
        await client.close();
        await backend.close();
        rmSync(root, { recursive: true });
      }
    };
    const files = (root) => serve("fs", "--root", root, "--backup-dir", join(root, ".backup"));
    const github = (_, { address }) => serve("github", `--sandbox=${address}`);

    it(
      "lists every tool with its schemas",
      on(files, async ({ list, server }) => {
        const tools = await list();
        assert.deepEqual(
          tools.map(({ name }) => name),
          await toolsOf("fs"),
        );
        for (const { name, inputSchema, outputSchema, annotations } of tools) {
          assert.deepEqual([name, inputSchema.type, outputSchema.type], [name, "object", "object"]);
          assert.equal(typeof annotations.readOnlyHint, "boolean");
        }
        if (server) assert.equal(server().name, "reversi-fs");
      }),
    );
    it(
      "lists names without dots where that is asked for",
      on(
        () => serve("github", "--sandbox", "--tool-names", "underscore"),
        async ({ list }) => {
          const names = (await list()).map(({ name }) => name);
          assert.deepEqual(
            names,
            (await toolsOf("github")).map((name) => name.replace(".", "_")),
          );
        },
      ),
    );
    it(
      "writes a file, reads it and takes the write back",
      on(files, async ({ call }, root) => {
        const path = join(root, "notes.txt");
        writeFileSync(path, "old");
        const written = await call("fs.write_file", { path: "notes.txt", content: "new" });
        const { backup_key, sha256 } = written.structuredContent;
        assert.equal(readFileSync(path, "utf8"), "new");
        const read = await call("fs.read_file", { path: "notes.txt" });
        assert.equal(read.structuredContent.content, "new");
        await call("fs.restore_file", { path: "notes.txt", backup_key, expected_sha256: sha256 });
        assert.equal(readFileSync(path, "utf8"), "old");
      }),
    );
    it(
      "is told a conflict as an error of the tool",
      on(files, async ({ call }, root) => {
        const made = await call("fs.write_file", { path: "a.txt", content: "ours" });
        const { backup_key, sha256 } = made.structuredContent;
        writeFileSync(join(root, "a.txt"), "theirs");
        const undo = { path: "a.txt", backup_key, expected_sha256: sha256 };
        const { isError, content } = await call("fs.restore_file", undo);
        assert.equal(isError, true);
        assert.match(content[0].text, /conflict|changed/i);
        assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "theirs");
      }),
    );
    it(
      "is told wrong arguments as an error of the tool",
      on(files, async ({ call }, root) => {
        const { isError, content } = await call("fs.read_file", { path: "../outside" });
        assert.equal(isError, true);
        assert.equal(content[0].type, "text");
        assert.equal(existsSync(join(root, "..", "outside")), false);
      }),
    );
    it(
      "works on a sandbox, and undoes",
      on(github, async ({ call }, _, backend) => {
        const site = { owner: "acme", repo: "site" };
        const { structuredContent: made } = await call("github.create_issue", { ...site, title: "Typo" });
        const issue = { ...site, issue_number: made.issue_number };
        await call("github.close_issue", issue);
        const { structuredContent: seen } = await call("github.get_issue", issue);
        assert.deepEqual([seen.title, seen.state], ["Typo", "closed"]);
        assert.equal(backend.site.issues.at(-1).state, "closed");
      }),
    );
    if (by.includes("ai-sdk")) return;
    it(
      "raises an error of the protocol: a tool that does not exist",
      on(files, async ({ call }) => {
        const error = await thrownBy(() => call("fs.shout", {}));
        assert.match(
          `${error.message} ${error.stderr ?? ""}`,
          /there is no tool fs\.shout|-32602|not found/i,
        );
      }),
    );
  });
}
