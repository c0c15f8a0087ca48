import { inspect } from "node:util";
import { stripe } from "@reversi-connector/stripe";
import { addIntent, moveIntent } from "@reversi-connector/stripe/sandbox";
import { bench, failure } from "./bench.ts";

describe("secrets", () => {
  const everything = (error: unknown) =>
    [
      inspect(error, { depth: 10, showHidden: true }),
      JSON.stringify(error, Object.getOwnPropertyNames(error ?? {})),
      (error as Error).message,
      (error as Error).stack,
    ].join("\n");

  test("SE-02: no error shows the key, whatever went wrong and whatever came back", async () => {
    const { call, backend, connector } = await bench();
    const { secretKey } = backend.options;
    const encoded = Buffer.from(`${secretKey}:`).toString("base64");
    const errors: unknown[] = [];
    for (const as of ["json", "html", "text", "header"] as const) {
      for (const status of [400, 401, 402, 403, 500]) {
        backend.inject({ kind: "echo", as, status });
        errors.push(await failure(call("create_customer", { name: "x" })));
      }
    }
    backend.inject({ kind: "echo", text: `${encodeURIComponent(secretKey)} Basic ${encoded}` });
    errors.push(await failure(call("create_customer", { name: "x" })));
    const tls = stripe({ secretKey, baseUrl: backend.address.replace("http:", "https:") });
    errors.push(await failure(tls.tools["stripe.create_customer"]?.({})));
    await tls.close();
    backend.inject({ kind: "refuse" });
    errors.push(await failure(call("create_customer", {})));
    for (const error of errors) {
      expect(everything(error)).not.toContain(secretKey);
      expect(everything(error)).not.toContain(encoded.slice(4, -4));
      expect(error).not.toHaveProperty("cause");
    }
    expect(inspect(connector, { depth: 10, showHidden: true })).not.toContain(secretKey);
  });

  test("a connection that is refused sent nothing: a write is not uncertain", async () => {
    const { backend, call } = await bench();
    backend.inject({ kind: "refuse" });
    const error = await failure(call("create_customer", {}));
    expect(error.message).toContain("nothing was sent");
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
  });

  test("no result and no error shows a client secret or a receipt link", async () => {
    const on = await bench();
    const { call, backend, world } = on;
    const seen: unknown[] = [];
    const calls = {
      create_customer: { name: "Alan" },
      create_payment_intent: { amount: 700, currency: "eur" },
      create_refund: { charge: backend.charge.id, amount: 500 },
    };
    for (const [tool, args] of Object.entries(calls)) {
      seen.push(await call(tool, args, { idempotencyKey: tool }), await on.landed(tool, args, tool));
      const { tool: undo, args: undoArgs } = on.undoOf(tool, seen.at(-2) as object);
      if (undo !== "") seen.push(await call(undo, undoArgs));
    }
    seen.push(await call("retrieve_charge", { charge: backend.charge.id }));
    const { id } = addIntent(world, { amount: 700, currency: "eur" });
    const secret = "pi_3Abc_secret_Def";
    const receipt = "https://pay.stripe.com/receipts/payment/CAcaFw";
    on.meanwhile("POST", () => {
      for (const intent of world.intents) if (intent.id === id) moveIntent(world, intent, "succeeded");
    });
    seen.push(everything(await failure(call("cancel_payment_intent", { payment_intent: id }))));
    backend.inject({ kind: "echo", text: `${secret} ${receipt}?s=ap whsec_abc123 rk_live_abc` });
    const error = await failure(call("create_customer", {}));
    expect(error.message).toMatch(/\[redacted\] \[redacted\] \[redacted\] \[redacted\]/);
    seen.push(everything(error));
    const text = JSON.stringify(seen);
    expect(text).not.toMatch(/_secret_|client_secret|receipts|receipt_url|whsec|rk_live/);
    expect(backend.requests.some(({ path }) => path.startsWith("/v1/charges"))).toBe(true);
  });

  test("SE-01: the configured value is hidden whatever its shape, Stripe's shapes are hidden besides", async () => {
    const { backend } = await bench();
    const key = ["sk", "live", "x".repeat(24)].join("_");
    for (const secretKey of ["abc.def-123", ["rk", "live", "x".repeat(24)].join("_")]) {
      const odd = stripe({ secretKey, baseUrl: backend.address });
      backend.inject({ kind: "echo", status: 401, text: `was ${secretKey} and ${key} and sk_test_****wxyz` });
      const error = await failure(odd.tools["stripe.create_customer"]?.({}));
      await odd.close();
      expect(error.message).toMatch(/was \[redacted\] and \[redacted\] and \[redacted\]/);
    }
  });

  test("SE-01: a key that is too short, or that holds a blank, is refused without being shown", () => {
    for (const secretKey of ["abcd", "sk_test_abc def0123456789", "sk_test_abc\ndef", "<your key>", ""]) {
      expect(() => stripe({ secretKey })).toThrow(/secretKey \(STRIPE_SECRET_KEY\)/);
      expect(() => stripe({ secretKey })).not.toThrow(/abc/);
    }
  });

  test("a text that holds the key is refused before anything is sent", async () => {
    const { call, backend } = await bench();
    const error = await failure(call("create_customer", { name: `x ${backend.options.secretKey}` }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(backend.requests).toEqual([]);
  });

  test("a wrong key is Stripe's 401, without the part of it that Stripe shows", async () => {
    const { backend } = await bench();
    const wrong = stripe({ secretKey: `sk_${"test"}_51wrongwrongwrongLAST`, baseUrl: backend.address });
    const error = await failure(wrong.tools["stripe.retrieve_charge"]?.({ charge: backend.charge.id }));
    await wrong.close();
    expect(error).toMatchObject({ status: 401, reason: "invalid_request_error" });
    expect(error.message).toContain("Invalid API Key provided");
    expect(error.message).not.toContain("LAST");
  });
});
