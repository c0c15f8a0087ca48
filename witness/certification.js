// A connector's own certification, on a server that others wrote in place of its sandbox.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { front } from "./front.js";
import { built } from "./support.js";

/** What any server can stand in for. Redaction is none of it: what is echoed comes from the wire, wherever it ends. */
export const checksAnywhere = [
  ...["forward_success", "forward_failure", "retry", "duplicate_call", "compensation_success"],
  ...["compensation_failure", "verification_failure", "timeout", "dependency_block", "lost_answer"],
];

/** The connector and its certification subject, as built. */
async function builtConnector(name) {
  const { [name]: make } = await built(`connectors/${name}/dist/index.js`);
  const { subject } = await built(`connectors/${name}/dist/certification.js`);
  return { make, subject };
}

/**
 * `start` starts the server, which gives each case a backend of its own: `{ address, ca, optionsAt, state, close }`, and
 * what edits need. `checks` are those that it can stand in for, `replaced` what takes the place of the sandbox's calls,
 * residue and credential; `vendor` and `wire` word the faults on the way as the vendor would. `more` adds tests: it is
 * handed `own`, which lends them a backend and a connector on it.
 */
export function certifies(connector, by, { skip, start, checks, vendor, wire, replaced, more }) {
  describe(`${connector} by ${by}`, { skip }, () => {
    let server;
    let make;
    let verdicts;
    before(async () => {
      server = await start();
      const { certify } = await built("certification-kit/dist/index.js");
      const { make: made, subject: ours } = await builtConnector(connector);
      make = made;
      const subject = {
        schemaHashes: ours.schemaHashes,
        ...replaced(ours, server),
        async backend() {
          const behind = await server.backend();
          const between = await front({ ...behind, vendor });
          const close = async () => {
            await between.close();
            await behind.close();
          };
          return { ...behind, between, address: between.address, close };
        },
        wire: ({ between }, kit) => between.wire(kit, wire?.(between.server)),
        connector: ({ address, credential, timeoutMs, backend }) =>
          make({ ...backend.optionsAt(address, credential), timeoutMs }),
      };
      const certified = await certify(subject, { only: checks });
      verdicts = [...certified.checks, ...certified.guarantees];
    });
    after(() => server?.close());

    for (const check of checks) {
      it(`certifies ${check}`, () => {
        const verdict = verdicts.find(({ name }) => name === check);
        assert.equal(verdict.status, "pass", JSON.stringify(verdict, null, 2));
        assert.ok(verdict.cases > 0);
      });
    }
    more?.(async (use) => {
      const backend = await server.backend();
      const ours = make(backend.optionsAt(backend.address, server.credential));
      try {
        await use({ backend, call: (tool, args) => ours.tools[`${connector}.${tool}`](args) });
      } finally {
        await ours.close();
        await backend.close();
      }
    });
  });
}
