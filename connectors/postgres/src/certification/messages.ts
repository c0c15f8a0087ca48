/** Messages of the PostgreSQL protocol, version 3, as far as a proxy has to know them. */

export interface Message {
  /** One letter; `startup` for a client's first message, which has none. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Cuts a stream into messages; `untyped`: the first one has no letter. */
export function messagesIn({ untyped }: { readonly untyped: boolean }): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let first = untyped;
  return (chunk) => {
    const found: Message[] = [];
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = first ? 0 : 1;
      if (rest.length < head + 4) return found;
      const end = head + rest.readInt32BE(head);
      if (rest.length < end) return found;
      found.push({
        type: first ? "startup" : String.fromCharCode(rest[0] ?? 0),
        bytes: rest.subarray(0, end),
      });
      rest = rest.subarray(end);
      first = false;
    }
  };
}

/** A message of one type. */
export function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const text = (value: string) => Buffer.from(`${value}\0`);

/** Asks for a statement as text. */
export const statement = (sql: string): Buffer => message("Q", text(sql));

export interface Refusal {
  readonly status: string;
  readonly message: string;
}

/** The end of a connection, with its reason. */
export const fatal = ({ status, message: said }: Refusal): Buffer =>
  message(
    "E",
    Buffer.concat([...[`SFATAL`, `VFATAL`, `C${status}`, `M${said}`].map(text), Buffer.from([0])]),
  );

const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** Has the server itself refuse, in earnest: its transaction is aborted. */
export const raise = ({ status, message: said }: Refusal): Buffer =>
  statement(
    `DO $certification$ BEGIN RAISE EXCEPTION USING ERRCODE = ${literal(status)}, MESSAGE = ${literal(said)}, DETAIL = ${literal(said)}; END $certification$`,
  );

/** Has the server end the session. */
export const terminate: Buffer = statement(
  "SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())",
);

/** The SQLSTATE of an error message. */
export const statusOf = ({ bytes }: Message): string =>
  /(?:^|\0)C([0-9A-Z]{5})\0/.exec(bytes.subarray(5).toString("latin1"))?.[1] ?? "XX000";

/** The SQL of a message that has one. */
export function sqlOf({ type, bytes }: Message): string | undefined {
  const parts = bytes.subarray(5).toString().split("\0");
  if (type === "Q") return parts[0];
  return type === "P" ? parts[1] : undefined;
}

/** Whether a first message asks to cancel what another connection runs. */
export const isCancel = ({ type, bytes }: Message): boolean =>
  type === "startup" && bytes.length === 16 && bytes.readInt32BE(4) === 80_877_102;
