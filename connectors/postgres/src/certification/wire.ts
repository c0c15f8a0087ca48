import { connect as connectSocket, createServer, type Socket } from "node:net";
import type { Fault, SentRequest, TcpTarget, Wire } from "@reversi-connector/certification-kit";
import {
  fatal,
  isCancel,
  type Message,
  message,
  messagesIn,
  type Refusal,
  raise,
  sqlOf,
  statusOf,
  terminate,
} from "./messages.ts";

/**
 * A way to a server that knows the protocol. One request is what makes a connection usable, up to its first
 * transaction, or one statement of a transaction. `ROLLBACK` is none: it ends what has no effect, as hanging up does.
 */
export interface PostgresWire extends Wire {
  readonly port: number;
  close(): Promise<void>;
}

interface Sent extends SentRequest {
  handled: boolean;
  status: string | undefined;
}
/** Two sockets, and what is under way between them. */
interface Session {
  readonly client: Socket;
  readonly server: Socket;
  readonly sent: Sent[];
  began: boolean;
  /** Held back for a late delivery, or already delivered and nobody's any more. */
  kept: boolean;
  /** Given what the server says, while it does not just pass. */
  hears: ((heard: Message) => void) | undefined;
}

const writing = /^(insert|update|delete|commit)\b/i;
const opening = "connect";

const statuses = { refuse: ["40001", "55P03"], deny: ["28P01", "42501"], serverError: ["57P01"] };

/** What the server is made to say, where it refuses. */
function refusalOf(fault: Fault, echo: string): Refusal | undefined {
  switch (fault.kind) {
    case "refuse":
    case "deny":
      return { status: fault.status, message: "refused for the certification" };
    case "rateLimit":
      return { status: "53400", message: "too many statements" };
    case "echo":
      return { status: fault.status, message: fault.text ?? echoed(fault.as, echo) };
    default:
      return undefined;
  }
}

const echoed = (as: Extract<Fault, { kind: "echo" }>["as"], secret: string): string =>
  ({
    json: JSON.stringify({ refused: { password: secret } }),
    html: `<p>refused: postgres://agent:${encodeURIComponent(secret)}@server/shop</p>`,
    text: `refused: password=${secret}`,
    header: `authorization: Basic ${Buffer.from(`agent:${secret}`).toString("base64")}`,
  })[as];

/** Starts the way on 127.0.0.1. `secret` is what an echo repeats. */
export async function postgresWire(target: TcpTarget, secret: string): Promise<PostgresWire> {
  const sessions = new Set<Session>();
  let requests: Sent[] = [];
  let faults: { readonly fault: Fault; skip: number; times: number }[] = [];
  let actions: { readonly action: () => unknown; skip: number }[] = [];
  const late: (() => Promise<void>)[] = [];

  /** What is armed for this request. Everything armed for later comes one nearer. */
  function armed(): { readonly fault: Fault | undefined; readonly action: (() => unknown) | undefined } {
    let fault: Fault | undefined;
    for (const each of faults) {
      if (each.skip > 0) each.skip--;
      else if (each.times > 0 && fault === undefined) {
        each.times--;
        fault = each.fault;
      }
    }
    const due = actions.find(({ skip }) => skip === 0);
    actions = actions.filter((each) => each !== due);
    for (const each of actions) each.skip--;
    return { fault, action: due?.action };
  }

  const hangUp = ({ client, server, kept }: Session) => {
    client.destroy();
    if (!kept) server.end();
  };

  /** Hands the request on and collects the whole answer; of a connection, its beginning. */
  function answerTo(session: Session, bytes: Buffer): Promise<Buffer> {
    const [request] = session.sent.slice(-1);
    if (request) request.handled = true;
    return new Promise((resolve) => {
      const heard: Buffer[] = [];
      session.hears = (one) => {
        heard.push(one.bytes);
        if (one.type === "Z" || request?.line === opening) resolve(Buffer.concat(heard));
      };
      if (session.server.destroyed) resolve(Buffer.alloc(0));
      session.server.once("close", () => resolve(Buffer.concat(heard)));
      session.server.write(bytes);
    });
  }

  /** Lets the server speak to the client again. */
  function pass(session: Session, bytes: Buffer): void {
    session.hears = undefined;
    session.server.write(bytes);
  }

  async function strike(session: Session, fault: Fault, bytes: Buffer): Promise<void> {
    const { client, server, sent } = session;
    const connecting = sent.at(-1)?.line === opening;
    const refusal = refusalOf(fault, secret);
    if (refusal) return void (connecting ? client.end(fatal(refusal)) : pass(session, raise(refusal)));
    switch (fault.kind) {
      case "cutAfter":
        await answerTo(session, bytes);
        return hangUp(session);
      case "late":
        session.kept = true;
        late.push(async () => {
          if (server.closed) return;
          const gone = new Promise((resolve) => server.once("close", resolve));
          await answerTo(session, bytes);
          server.end();
          await gone;
        });
        return void client.destroy();
      case "hang":
        if (fault.effect) await answerTo(session, bytes);
        return;
      case "stall":
        return void client.write((await answerTo(session, bytes)).subarray(0, 1));
      case "cutBody": {
        const answer = await answerTo(session, bytes);
        return void client.write(answer.subarray(0, answer.length >> 1), () => hangUp(session));
      }
      case "garbage": {
        await answerTo(session, bytes);
        return void client.write(message(fault.body.slice(0, 1), Buffer.from(fault.body.slice(1))));
      }
      case "serverError":
        if (connecting) {
          return void client.end(fatal({ status: fault.status, message: "terminating connection" }));
        }
        if (fault.effect) await answerTo(session, bytes);
        return pass(session, terminate);
      default:
        return hangUp(session);
    }
  }

  /** One whole request of a client. */
  async function request(session: Session, messages: readonly Message[]): Promise<void> {
    const sql = messages.map(sqlOf).find((found) => found !== undefined) ?? "";
    const bytes = Buffer.concat(messages.map((each) => each.bytes));
    const connecting = messages[0]?.type === "startup";
    session.began ||= /^begin\b/i.test(sql);
    if (!connecting && (!session.began || /^rollback\b/i.test(sql))) return pass(session, bytes);
    const sent: Sent = {
      line: connecting ? opening : (sql.split(";")[0] ?? "").replace(/\s+/g, " "),
      open: bytes.toString(),
      headers: {},
      writes: writing.test(sql),
      connected: !connecting,
      handled: false,
      status: undefined,
    };
    requests.push(sent);
    session.sent.push(sent);
    const { fault, action } = armed();
    await action?.();
    if (fault) return strike(session, fault, bytes);
    sent.handled = true;
    pass(session, bytes);
  }

  /** What the client hears, and what became of its request. */
  function fromServer(session: Session, one: Message): void {
    const request = session.sent.at(-1);
    if (session.hears) return void session.hears(one);
    if (request && one.type === "E") request.status ??= statusOf(one);
    if (request && one.type === "Z") request.status ??= "00000";
    session.client.write(one.bytes);
  }

  const server = createServer((client) => {
    const session: Session = {
      ...{ client, server: connectSocket(target), sent: [] },
      ...{ began: false, kept: false, hears: undefined },
    };
    sessions.add(session);
    const [fromClient, answers] = [messagesIn({ untyped: true }), messagesIn({ untyped: false })];
    let batch: Message[] = [];
    let line = Promise.resolve();
    client.on("error", () => {}).on("close", () => hangUp(session));
    client.on("data", (chunk: Buffer) => {
      for (const one of fromClient(chunk)) {
        if (isCancel(one) || one.type === "p" || one.type === "X") session.server.write(one.bytes);
        else batch.push(one);
        if (!["startup", "Q", "S"].includes(one.type) || isCancel(one)) continue;
        const whole = batch;
        batch = [];
        line = line.then(() => request(session, whole));
      }
    });
    session.server
      .on("error", () => {})
      .on("data", (chunk: Buffer) => {
        for (const one of answers(chunk)) fromServer(session, one);
      });
    session.server.on("close", () => {
      sessions.delete(session);
      client.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });

  return {
    port: (server.address() as { port: number }).port,
    statuses,
    get requests() {
      return [...requests];
    },
    forget() {
      requests = [];
    },
    inject(fault, skip, times = 1) {
      faults.push({ fault, skip, times });
    },
    before(skip, action) {
      actions.push({ action, skip });
    },
    async clear() {
      faults = [];
      actions = [];
    },
    async settle() {
      await Promise.all(late.splice(0).map((deliver) => deliver()));
    },
    hangUp() {
      for (const session of sessions) hangUp(session);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const { client, server: backend } of sessions) {
        client.destroy();
        backend.destroy();
      }
      await closed;
    },
  };
}
