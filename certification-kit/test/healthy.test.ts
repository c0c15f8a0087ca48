import { ConnectorError } from "@reversi-connector/core";
import { certify, checks, guarantees, isCertified } from "../src/index.ts";
import { calling } from "./mutants/mutant.ts";
import { token } from "./toy/sandbox.ts";
import { connectToy, healthy, healthyHashes, subjectOf } from "./toy/subject.ts";

test("a healthy connector passes everything, and is told what is weaker than one may think", async () => {
  const certification = await certify(healthy);
  const failed = [...certification.checks, ...certification.guarantees].filter(
    ({ status }) => status === "fail",
  );
  expect(failed).toEqual([]);
  expect(isCertified(certification)).toBe(true);
  expect(certification.checks.map(({ name, status }) => [name, status])).toEqual(
    checks.map(({ name }) => [name, "pass"]),
  );
  expect(certification.guarantees.map(({ name, status }) => [name, status])).toEqual([
    ...guarantees.map(({ name }) => [name, "pass"]),
    ["contract", "not_run"],
    ["witness", "not_run"],
  ]);
  expect(certification.risks).toEqual([
    "toy.add_note leaves mailed, which no check sees: the sandbox sends no mail",
    "toy.add_note: an edit in the moment between its undo's read and write is overwritten.",
    "toy.add_note: when an answer is lost, a person has to look what became of it.",
    "toy.notify: when an answer is lost, a person has to look what became of it.",
    "toy.pay: its undo has no guard; what somebody else changed meanwhile is not looked at.",
  ]);
  expect(JSON.stringify(certification)).not.toContain(token);
}, 120_000);

test("a call that a busy machine had no time for, past the fault, is judged again with more", async () => {
  const late = () =>
    new ConnectorError("HEAD: no answer within 120 ms; nothing was sent", { mayHaveApplied: true });
  const hurried = ({ timeoutMs }: { readonly timeoutMs: number }) => timeoutMs < 1000;
  const subject = subjectOf(
    (connect) =>
      calling(connectToy()(connect), "toy.delete_item", async (good, args, context) => {
        const result = await good?.(args, context);
        if (hurried(connect)) throw late();
        return result;
      }),
    healthyHashes,
  );
  const { checks: found } = await certify(subject, { only: ["timeout"], tools: ["toy.delete_item"] });
  expect(found.flatMap(({ name, status }) => (name === "timeout" ? [status] : []))).toEqual(["pass"]);
});

test("facts alone decide what applies: without a wire and a credential half of the checks do not", async () => {
  const { wire: _, credential: __, ...local } = healthy;
  const connector = healthy.connector;
  const subject = {
    ...local,
    connector: (connect: Parameters<typeof connector>[0]) => connector({ ...connect, credential: token }),
  };
  const { checks: found } = await certify(subject, { tools: ["toy.get_item"] });
  const reasons = found.flatMap((result) => (result.status === "not_applicable" ? [result.title] : []));
  expect(reasons).toEqual(["Retry", "Permission denial", "Timeout", "Redaction"]);
  expect(found.find(({ name }) => name === "forward_failure")).toMatchObject({
    status: "fail",
    failures: [{ tool: "toy.get_item", message: "the subject gives none for toy.get_item" }],
  });
});

test("a tool without a call fails, and what builds on its good call did not run", async () => {
  const { "toy.notify": _, ...calls } = healthy.calls;
  const certification = await certify({ ...healthy, calls }, { tools: ["toy.notify"] });
  expect(isCertified(certification)).toBe(false);
  expect(certification.checks[0]).toMatchObject({
    status: "fail",
    failures: [{ case: "a good call", message: "the subject gives no call of toy.notify" }],
  });
  expect(certification.checks[3]).toMatchObject({
    title: "Retry",
    status: "not_run",
    reason: "Forward success failed for toy.notify",
  });
});

test("one check alone brings those with it that it builds on", async () => {
  const told: string[] = [];
  const { checks: found, guarantees: more } = await certify(healthy, {
    only: ["compensation_success"],
    tools: ["toy.add_note"],
    progress: ({ name }) => told.push(name),
  });
  expect(told).toEqual(["forward_success", "compensation_success"]);
  expect([...found, ...more].map(({ status }) => status)).toEqual(["pass", "pass"]);
});

test("a mistake of the sandbox is told as one, and blamed on nobody else", async () => {
  const subject = {
    ...healthy,
    wire: (...parameters: Parameters<NonNullable<typeof healthy.wire>>) => {
      const wire = healthy.wire?.(...parameters);
      if (!wire) throw new Error("the toy has a wire");
      return Object.defineProperty(wire, "mistakes", { value: ["out of order"] });
    },
  };
  const { checks: found } = await certify(subject, { only: ["forward_success"], tools: ["toy.notify"] });
  expect(found[0]).toMatchObject({
    status: "fail",
    failures: expect.arrayContaining([
      expect.objectContaining({ message: "the sandbox itself failed: out of order" }),
    ]),
  });
});
