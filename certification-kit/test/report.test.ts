import { asJson, asJunit, asMarkdown, asTable, type Certification } from "../src/index.ts";
import { describeCertification } from "../src/jest.ts";
import { healthy } from "./toy/subject.ts";

const about = (name: "retry" | "guard" | "timeout" | "contract", title: string) => ({
  ...{ name, title, sentence: `${title} is as it should be.`, tools: {}, cases: 3 },
});
const certification: Certification = {
  connector: "toy",
  version: "1.0.0",
  checks: [
    { ...about("retry", "Retry"), status: "pass" },
    { ...about("timeout", "Timeout"), status: "not_applicable", reason: "there is no network | to wait for" },
  ],
  guarantees: [
    {
      ...about("guard", "Guard"),
      status: "fail",
      failures: [{ tool: "toy.set", case: "an edit <in between>", message: 'lost & "gone"\u0001' }],
    },
    { ...about("contract", "Contract"), status: "not_run", reason: "nobody handed it in" },
  ],
  risks: ["toy.set: a window stays open."],
  milliseconds: 1234,
};

test("the table tells what failed, where, and what was seen", () => {
  expect(asTable([certification])).toBe(
    [
      "toy 1.0.0 (1.2 s)",
      "Checks",
      "  Retry    pass     3 cases",
      "  Timeout  n/a      there is no network | to wait for",
      "Guarantees",
      "  Guard       FAIL     3 cases",
      '      toy.set: an edit <in between>: lost & "gone"\u0001',
      "  Contract    not run  nobody handed it in",
      "Risks",
      "  toy.set: a window stays open.",
      "",
    ].join("\n"),
  );
});

test("JSON is the certification itself", () => {
  expect(JSON.parse(asJson([certification]))).toEqual([certification]);
});

test("JUnit counts, escapes, and has no character that XML forbids", () => {
  const xml = asJunit([certification]);
  expect(xml).toContain('<testsuite name="toy" tests="4" failures="1" skipped="2" time="1.234">');
  expect(xml).toContain('<testcase classname="toy" name="Retry"/>');
  expect(xml).toContain("toy.set: an edit &lt;in between&gt;: lost &amp; &quot;gone&quot;?</failure>");
  expect(xml).toContain('<skipped message="nobody handed it in"/>');
});

test("Markdown has one row for each connector, the reasons and the risks", () => {
  expect(asMarkdown([certification])).toBe(
    [
      "| Connector | Retry | Timeout |",
      "| - | - | - |",
      "| toy | pass | n/a |",
      "",
      "| Connector | Guard | Contract |",
      "| - | - | - |",
      "| toy | **fail** | not run |",
      "",
      "<details>",
      "<summary>Why a check did not run</summary>",
      "",
      "* toy, Timeout: there is no network \\| to wait for",
      "* toy, Contract: nobody handed it in",
      "",
      "</details>",
      "",
      "<details>",
      "<summary>Risks</summary>",
      "",
      "* toy: toy.set: a window stays open.",
      "",
      "</details>",
      "",
    ].join("\n"),
  );
  expect(asMarkdown([])).toBe("");
});

describe("the adapter for test runners", () => {
  const collected = new Map<string, () => Promise<void>>();
  const collect = (subject: typeof healthy) => {
    collected.clear();
    describeCertification(subject, {
      describe: (_, body) => body(),
      test: (name, body) => void collected.set(name.split(":")[0] ?? "", body),
    });
  };

  test("makes one test of each check and guarantee", () => {
    collect(healthy);
    expect([...collected.keys()]).toEqual([
      "Forward success",
      "Forward failure",
      "Duplicate call",
      "Retry",
      "Compensation success",
      "Compensation failure",
      "Verification failure",
      "Permission denial",
      "Timeout",
      "Redaction",
      "Dependency block",
      "Manifest drift",
      "Lost answer",
      "Guard",
      "Residue",
      "Sandbox",
    ]);
  });

  test("fails the test of a check that failed, and of one that therefore did not run", async () => {
    collect({ ...healthy, calls: {} });
    await expect(collected.get("Forward success")?.()).rejects.toThrow(
      "toy.add_note: a good call: the subject gives no call of toy.add_note",
    );
    await expect(collected.get("Retry")?.()).rejects.toThrow(
      "not run: Forward success failed for toy.add_note",
    );
    await expect(collected.get("Manifest drift")?.()).resolves.toBeUndefined();
  });
});
