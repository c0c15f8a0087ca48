import assert from "node:assert/strict";
import { it } from "node:test";
import { certifies, checksAnywhere } from "../certification.js";
import { missingSwift, swift, versioned, versionOfSwift } from "../swift.js";

/** S3's own words for what goes wrong on the wire. */
const codes = {
  400: "InvalidRequest",
  403: "AccessDenied",
  409: "OperationAborted",
  503: "ServiceUnavailable",
};
const errorBody = (status, message) => {
  const text = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<Error><Code>${codes[status] ?? "InternalError"}</Code><Message>${text}</Message></Error>`;
};

/** The calls of the certification, without those that Swift cannot stand in for. */
const isHere = ({ title }) => !/tags/.test(title) && title !== "a version";
const edit = ({ write }, { args }) => write(args.bucket, args.key, "written by Ada");
const onSwift = (plans) => plans.filter(isHere).map((plan) => (plan.edit ? { ...plan, edit } : plan));

certifies("aws", versionOfSwift(), {
  skip: missingSwift,
  start: swift,
  // Not `guard`: Swift answers 501 to conditions on a put, so nothing keeps others off between look and write. Not
  // `residue`: it takes no delete that would leave a version.
  checks: [...checksAnywhere, "permission_denial"],
  vendor: {
    errorBody,
    rateLimit: () => ({ status: 503, body: "<Error><Code>SlowDown</Code><Message>Slower</Message></Error>" }),
  },
  replaced: ({ calls, residue }, { credential }) => ({
    credential,
    calls: Object.fromEntries(Object.entries(calls).map(([tool, plans]) => [tool, onSwift(plans)])),
    residue: { ...residue, attributes: "Swift keeps no access list of an object" },
  }),
  more(own) {
    it("is told where Swift keeps nobody off between look and write", () =>
      own(async ({ call }) => {
        const args = { bucket: "notes", key: "todo.txt", content: "bread\n" };
        assert.equal((await call("put_object", args)).guarded, false);
      }));

    it("overwrites nothing where Swift refuses a condition that holds: a delete on a versioned bucket", () =>
      own(async ({ backend, call }) => {
        const { [versioned]: was } = await backend.state();
        const deleting = call("delete_object", { bucket: versioned, key: "plan.txt" });
        await assert.rejects(deleting, { name: "ConnectorError", status: 412 });
        const { [versioned]: is } = await backend.state();
        assert.deepEqual([is.objects, is.versions], [was.objects, was.versions]);
      }));
  },
});
