import type { Bench, Case } from "../bench.ts";
import { type Spot, spotsOf } from "../cases.ts";
import type { Check } from "../check.ts";
import { because } from "../facts.ts";
import type { Change, SentRequest } from "../fault.ts";
import { ended } from "../outcome.ts";
import { searcherFor } from "../secrets.ts";
import { difference } from "../states.ts";
import type { Twin } from "../subject.ts";

interface Malformed {
  readonly name: string;
  readonly change: Change;
}

/** Headers that carry the credential, in whatever form. */
const carriers = ({ headers }: SentRequest, credential: string): string[] => {
  const find = searcherFor(credential);
  return Object.keys(headers).filter((name) => find(headers[name] ?? "") !== undefined);
};

function* twinsOf({ subject }: Bench, request: SentRequest): Generator<Malformed> {
  const { credential = "", strictness = {} } = subject;
  const accepts = (twin: Twin) => strictness.accepts?.[twin] !== undefined;
  const named = (twin: Twin, change: Change): Malformed[] =>
    accepts(twin) ? [] : [{ name: twin.replaceAll("_", " "), change }];
  for (const header of credential === "" ? [] : carriers(request, credential)) {
    yield* named("no_credential", { kind: "withoutHeader", header });
    yield* named("wrong_credential", { kind: "header", header, value: `${request.headers[header]}0` });
  }
  for (const header of strictness.headers ?? []) {
    yield { name: `without ${header}`, change: { kind: "withoutHeader", header } };
  }
  yield* named("unknown_query", { kind: "unknownQuery" });
  yield* named("unknown_field", { kind: "unknownField" });
  yield* named("broken_body", { kind: "brokenBody" });
  yield* named("content_type", { kind: "contentType" });
  yield* named("wrong_id", { kind: "wrongId" });
}

const isRefusal = (status: string) => /^4\d\d$/.test(status);

/** A good request, held back at its spot, then sent in every malformed form, and at last as it was. */
const strictAt = (bench: Bench, spot: Spot): Case => ({
  name: `request ${spot.skip + 1} (${spot.request.line})`,
  async verify({ wire, call, state, sent }) {
    const [status = "400"] = wire.statuses.refuse;
    wire.inject({ kind: "refuse", status }, spot.skip);
    await ended(call());
    await wire.clear();
    const good = sent()[spot.skip];
    if (!good) return "it was not sent";
    const before = await state();
    const lenient: string[] = [];
    for (const { name, change } of twinsOf(bench, good)) {
      const answer = await wire.replay?.(good, change);
      if (answer !== undefined && !isRefusal(answer)) lenient.push(`${name} (${answer})`);
    }
    if (lenient.length > 0) return `the sandbox accepts: ${lenient.join(", ")}`;
    const change = difference(before, await state());
    if (change !== undefined) return `the sandbox refused, and changed: ${change}`;
    const answer = await wire.replay?.(good, { kind: "none" });
    return answer === spot.request.status ? undefined : `the good request itself is answered with ${answer}`;
  },
});

export const sandbox: Check = {
  name: "sandbox",
  title: "Sandbox",
  sentence:
    "The sandbox is as strict as the vendor: every malformed twin of a good request is refused, and changes nothing.",
  applies: ({ network, replay }) =>
    (network && replay) || because("there is no sandbox at a wire: the backend is the real thing"),
  after: ["forward_success"],
  async verify(bench) {
    const { sent } = await bench.clean();
    await bench.all(spotsOf(sent).map((spot) => strictAt(bench, spot)));
  },
};
