import { formsOf } from "@reversi-connector/certification-kit";
import { token } from "../src/sandbox/wire.ts";
import { bench, failure, web } from "./bench.ts";

test("SE-02: no error shows the token, whatever came back", async () => {
  for (const as of ["json", "html", "text", "header"] as const) {
    const on = await bench();
    on.backend.inject({ kind: "echo", status: 403, as }, { method: "PATCH" });
    const error = await failure(on.call("scale_deployment", { ...web, replicas: 5 }));
    const told = JSON.stringify([error, error.message, String(error.cause)]);
    for (const { text } of formsOf(token)) expect(told).not.toContain(text);
  }
});

test("SE-05: another token of a known shape is hidden in messages as well", async () => {
  const on = await bench();
  const other = `eyJhbGciOiJSUzI1NiJ9.${"b3RoZXI".repeat(6)}.c2ln`;
  const body = {
    kind: "Status",
    status: "Failure",
    reason: "Forbidden",
    message: `token ${other} is not valid`,
    code: 403,
  };
  on.backend.inject({ kind: "status", status: 403, body }, { method: "GET" });
  const error = await failure(on.call("get_deployment", web));
  expect(error.message).not.toContain(other);
});
