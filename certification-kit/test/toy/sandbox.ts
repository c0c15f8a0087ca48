import {
  type RoutedRequest,
  route,
  router,
  type SandboxReply,
  startSandbox,
} from "@reversi-connector/http/sandbox";

export interface Item {
  id: string;
  title: string;
  version: number;
  notes: { id: number; text: string }[];
  /** Numbers of notes are never used again. */
  nextNote: number;
}
export interface Payment {
  id: string;
  amount: number;
  reference: string;
  status: "paid" | "refunded";
}

/** What a mutant may change of the sandbox. */
export interface Leniency {
  readonly ignoresIfMatch?: boolean;
  readonly ignoresUnknownFields?: boolean;
  readonly ignoresToken?: boolean;
}

export const token = "tok_Certification0Sandbox/9+x";
const api = "2026-01-01";

const newWorld = () => ({
  items: new Map<string, Item>([
    ["one", { id: "one", title: "First", version: 3, notes: [{ id: 1, text: "kept" }], nextNote: 2 }],
    ["two", { id: "two", title: "Second", version: 1, notes: [], nextNote: 1 }],
  ]),
  payments: new Map<string, Payment>(),
  notices: [] as string[],
  /** Answers stored under their keys, errors included. */
  keys: new Map<string, SandboxReply>(),
  access: "all" as "all" | "listed" | "none",
  /** The next keyed request is answered, and stored, with this. */
  breakdowns: [] as { skip: number; status: number }[],
});
export type World = ReturnType<typeof newWorld>;

const problem = (status: number, code: string): SandboxReply => ({ status, body: { code, message: code } });
const missing = problem(404, "no_such_thing");

function gate(world: World, { headers, query, bytes }: RoutedRequest, { ignoresToken }: Leniency) {
  if (world.access === "none") return missing;
  if (headers["authorization"] !== `Bearer ${token}` && !ignoresToken) return problem(401, "unauthorized");
  if (headers["toy-version"] !== api) return problem(400, "no_version");
  if ([...query.keys()].some((name) => name !== "reference")) return problem(400, "unknown_parameter");
  const type = headers["content-type"] ?? "";
  if (bytes.length > 0 && !type.startsWith("application/json")) return problem(415, "content_type");
  return undefined;
}

const itemOf = ({ id, title, version }: Item): SandboxReply => ({
  status: 200,
  headers: { etag: `"${version}"` },
  body: { id, title, version },
});

/** A small vendor: items with versions, notes on them, payments under idempotency keys, notices. */
export async function toySandbox(leniency: Leniency = {}) {
  const world = newWorld();
  const body = <Fields extends object>(request: RoutedRequest, ...known: string[]): Fields => {
    const json = request.json() as Record<string, unknown>;
    const names = Object.keys(json);
    const unknown = leniency.ignoresUnknownFields ? [] : names.filter((name) => !known.includes(name));
    if (unknown.length > 0 || known.some((name) => json[name] === undefined))
      throw problem(422, "bad_fields");
    return json as Fields;
  };
  const find = ({ params }: RoutedRequest): Item => {
    const item = world.items.get(params["id"] ?? "");
    if (!item) throw missing;
    return item;
  };
  const held = ({ headers }: RoutedRequest, { version }: Item) => {
    if (headers["if-match"] === undefined) throw problem(428, "if_match_needed");
    if (headers["if-match"] !== `"${version}"` && !leniency.ignoresIfMatch) throw problem(412, "changed");
  };
  const keyed = (request: RoutedRequest, work: () => SandboxReply): SandboxReply => {
    const key = request.headers["idempotency-key"];
    if (key === undefined) throw problem(400, "key_needed");
    const stored = world.keys.get(key);
    if (stored) return stored;
    const [broken] = world.breakdowns;
    if (broken && broken.skip-- === 0) world.breakdowns.shift();
    const reply = broken && broken.skip < 0 ? problem(broken.status, "broken") : work();
    if (reply.status !== 404) world.keys.set(key, reply);
    return reply;
  };
  const paymentOf = ({ id, status }: Payment) => ({ id, status });

  const routes = [
    route("GET /items", () => ({ status: 200, body: [...world.items.keys()] })),
    route("GET /items/:id", (request) => itemOf(find(request))),
    route("PUT /items/:id", (request) => {
      const { title } = body<Item>(request, "title");
      const id = request.params["id"] ?? "";
      if (!/^[0-9a-f]{12}$/.test(id)) return problem(422, "bad_id");
      if (world.items.has(id)) return problem(412, "exists");
      const item: Item = { id, title, version: 1, notes: [], nextNote: 1 };
      world.items.set(id, item);
      return { ...itemOf(item), status: 201 };
    }),
    route("PATCH /items/:id", (request) => {
      const { title } = body<Item>(request, "title");
      const item = find(request);
      held(request, item);
      Object.assign(item, { title, version: item.version + 1 });
      return itemOf(item);
    }),
    route("DELETE /items/:id", (request) => {
      const item = find(request);
      held(request, item);
      world.items.delete(item.id);
      return { status: 204 };
    }),
    route("GET /items/:id/notes/:note", (request) => {
      const note = find(request).notes.find(({ id }) => String(id) === request.params["note"]);
      return note ? { status: 200, body: note } : missing;
    }),
    route("POST /items/:id/notes", (request) => {
      const { text } = body<{ text: string }>(request, "text");
      const item = find(request);
      const note = { id: item.nextNote++, text };
      item.notes.push(note);
      return { status: 201, body: note };
    }),
    route("DELETE /items/:id/notes/:note", (request) => {
      const item = find(request);
      const at = item.notes.findIndex(({ id }) => String(id) === request.params["note"]);
      if (at === -1) return missing;
      item.notes.splice(at, 1);
      return { status: 204 };
    }),
    route("GET /payments", ({ query }) => {
      if (world.access === "listed") return problem(403, "no_right");
      const found = [...world.payments.values()].filter((each) => each.reference === query.get("reference"));
      return { status: 200, body: found.map(paymentOf) };
    }),
    route("GET /payments/:id", ({ params }) => {
      if (world.access === "listed") return problem(403, "no_right");
      const payment = world.payments.get(params["id"] ?? "");
      return payment ? { status: 200, body: paymentOf(payment) } : missing;
    }),
    route("POST /payments", (request) =>
      keyed(request, () => {
        const { amount, reference } = body<Payment>(request, "amount", "reference");
        const id = `pay${world.payments.size + 1}`;
        const payment: Payment = { id, amount, reference, status: "paid" };
        world.payments.set(id, payment);
        return { status: 201, body: paymentOf(payment) };
      }),
    ),
    route("POST /payments/:id/refund", (request) =>
      keyed(request, () => {
        const payment = world.payments.get(request.params["id"] ?? "");
        if (!payment) return missing;
        payment.status = "refunded";
        return { status: 200, body: paymentOf(payment) };
      }),
    ),
    route("POST /notices", (request) => {
      world.notices.push(body<{ text: string }>(request, "text").text);
      return { status: 201, body: { notice: world.notices.length } };
    }),
  ];
  const routed = router(routes, () => missing);
  const server = await startSandbox({
    handle: (request) => gate(world, request as RoutedRequest, leniency) ?? routed(request),
    errorBody: (_, message) => ({ code: "error", message }),
  });
  const state = () => ({
    items: [...world.items.values()].map(({ version: _, ...item }) => structuredClone(item)),
    payments: [...world.payments.values()].map(({ id, amount, status }) => ({ id, amount, status })),
    notices: [...world.notices],
  });
  // The server's own object: what it records is read through it.
  return Object.assign(server, { address: server.url, world, state });
}
export type ToySandbox = Awaited<ReturnType<typeof toySandbox>>;
