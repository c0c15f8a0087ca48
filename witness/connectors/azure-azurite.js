import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { azurite } from "../azurite.js";
import { built, software } from "../support.js";

/** The checks that need no fault on the wire. */
const checks = [
  ...["forward_success", "duplicate_call", "compensation_success", "verification_failure"],
  ...["dependency_block", "guard", "residue"],
];

describe(`azure by ${software("azurite")}`, () => {
  let emulator;
  let verdicts;
  before(async () => {
    emulator = await azurite();
    const { certify } = await built("certification-kit/dist/index.js");
    const { azure } = await built("connectors/azure/dist/index.js");
    const certification = await built("connectors/azure/dist/certification.js");
    const { calls, residue, schemaHashes, credential: token } = certification.subject;
    const subject = {
      ...{ calls, schemaHashes, residue: { ...residue, etag: "Azurite tells nobody of changes" } },
      backend: () => emulator.backend(),
      connector: ({ address: endpoint, timeoutMs, backend: { account, ca } }) =>
        azure({ token, account, endpoint, ca, timeoutMs }),
    };
    const certified = await certify(subject, { only: checks, parallel: 4 });
    verdicts = [...certified.checks, ...certified.guarantees];
  });
  after(() => emulator.close());

  for (const check of checks) {
    it(`certifies ${check}`, () => {
      const verdict = verdicts.find(({ name }) => name === check);
      assert.equal(verdict.status, "pass", JSON.stringify(verdict, null, 2));
      assert.ok(verdict.cases > 0);
    });
  }
});
