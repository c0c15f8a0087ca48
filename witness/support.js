// What every witness uses: a fresh sandbox for each operation, and the software that is asked to drive it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { describe, it } from "node:test";
import { createServer as createTlsServer } from "node:tls";

/** `stripe` → `stripe 23.1.0`, as it stands in this folder. */
export function software(name) {
  const facts = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${JSON.parse(readFileSync(facts, "utf8")).version}`;
}

/** A connector's built module, by a path that needs no installation: `connectors/github/dist/sandbox.js`. */
export const built = (path) => import(new URL(`../${path}`, import.meta.url));

/**
 * The witness of one connector. `by` names the software; `client` makes it from a backend, `start` starts that.
 * `does` and `raises` are one operation each, on a backend of its own.
 */
export async function witness(connector, by, client, start = (sandbox) => sandbox()) {
  const { sandbox } = await built(`connectors/${connector}/dist/sandbox.js`);
  const { [connector]: make } = await built(`connectors/${connector}/dist/index.js`);

  async function stand(use) {
    const backend = await start(sandbox);
    const ours = make(backend.options);
    const closing = [];
    const later = (work) => closing.unshift(work);
    try {
      const sdk = await client(backend, later);
      const call = (tool, args, context = {}) => ours.tools[`${connector}.${tool}`](args, context);
      await use({ backend, sdk, call, later });
      assert.deepEqual(backend.errors, [], "the sandbox itself made a mistake");
    } finally {
      for (const work of closing) await work();
      await ours.close();
      await backend.close();
    }
  }

  const operations = [];
  const add = (title, use) => operations.push([title, use]);
  return {
    does: add,
    /**
     * One error: `expected.class` is the SDK's own, further members are compared; a function judges by itself.
     * The title is the error, then when it comes: `RequestError 404: an issue that is not there`.
     */
    raises(title, provoke, { class: Class, ...members }) {
      add(`raises ${title}`, async (bench) => {
        const error = await thrownBy(() => provoke(bench));
        if (Class) assert.ok(error instanceof Class, `${error?.stack} is no ${Class.name}`);
        for (const [name, wanted] of Object.entries(members)) {
          if (typeof wanted === "function") assert.ok(wanted(error[name]), `${name}: ${String(error[name])}`);
          else if (wanted instanceof RegExp) assert.match(String(error[name]), wanted);
          else assert.deepEqual(error[name], wanted, `${name} of ${error.stack}`);
        }
      });
    },
    /** Hands all of it to the test runner; `skip` says why it cannot run here. */
    run({ skip } = {}) {
      describe(`${connector} by ${by}`, { skip }, () => {
        for (const [title, use] of operations) it(title, () => stand(use));
      });
    },
  };
}

export async function thrownBy(work) {
  let value;
  try {
    value = await work();
  } catch (error) {
    return error;
  }
  throw new Error(`expected an error, got ${JSON.stringify(value)?.slice(0, 400)}`);
}

/** TLS in front of a sandbox, for software that sends no credential without: `https://127.0.0.1:PORT`. */
export async function behindTls(address, later) {
  const { port, hostname } = new URL(address);
  const { key, cert } = certificate();
  const sockets = new Set();
  const server = createTlsServer({ key, cert }, (socket) => {
    const inner = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, inner],
      [inner, socket],
    ]) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => sockets.delete(one) && other.destroy());
      one.pipe(other);
    }
  });
  server.on("tlsClientError", () => {});
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `https://127.0.0.1:${server.address().port}`;
}

/** The certificate that `run.js` made, and that this process trusts through NODE_EXTRA_CA_CERTS. */
export function certificate() {
  const cert = process.env.NODE_EXTRA_CA_CERTS;
  if (!cert) throw new Error("start the witnesses with `npm test`: it makes the certificate");
  return {
    file: cert,
    cert: readFileSync(cert, "utf8"),
    key: readFileSync(cert.replace("cert.pem", "key.pem"), "utf8"),
  };
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
