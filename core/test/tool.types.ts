// Compile-time tests: `tsc --build` fails as soon as one of these stops being an error.
import {
  type Call,
  type Landed,
  type LostCall,
  type Static,
  s,
  type Tool,
  toolsFor,
  type WriteCall,
} from "../src/index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** `exactly<Expected>()(value)`: fails to compile unless the value's type is that one; `any` is never that one. */
const exactly =
  <Expected>() =>
  <Actual>(_value: Actual, ..._same: Equal<Actual, Expected> extends true ? [] : [never]): void => {};

class Client {
  readonly token = "";
}
const tool = toolsFor<Client>("x");
const text = { description: "", permission: "" };
const common = {
  ...text,
  input: s.object({ title: s.string() }, { id: s.integer() }),
  output: s.object({ id: s.integer(), url: s.string(), old: s.nullable(s.string()) }, { tag: s.string() }),
};
type Args = { title: string; id?: number };
type Result = { id: number; url: string; old: string | null; tag?: string };
const result = { id: 1, url: "", old: null };

const plain = { ...text, input: s.object({ id: s.integer() }), output: s.object({}) };
const idInput = { ...plain, target: ["id"] } as const;
const undo = tool
  .idempotent("undo", idInput)
  .holds(async () => true)
  .run(async () => ({}));
const undoWithOptions = tool
  .idempotent("undo_with_options", {
    ...text,
    target: ["id"],
    input: s.object(
      { id: s.integer(), state: s.oneOf(["open", "closed"]) },
      { note: s.string(), old: s.nullable(s.string()) },
    ),
    output: s.object({}),
  })
  .holds(async () => true)
  .run(async () => ({}));
const notIdempotent = tool.irreversible("not_idempotent", plain).run(async () => ({}));
const otherClient = toolsFor<{ readonly other: number }>("y")
  .idempotent("undo", idInput)
  .holds(async () => true)
  .run(async () => ({}));

// ── argument_map ─────────────────────────────────────────────────────────────────────────────────
const sound = tool
  .reversible("sound", { ...common, compensation: { tool: undo, argument_map: { id: "result.id" } } })
  .run(async () => result);
tool.compensable("fixed", {
  ...common,
  compensation: { tool: undo, argument_map: { id: { const: 7 } } },
});
tool.reversible("optional arguments bound", {
  ...common,
  compensation: {
    tool: undoWithOptions,
    argument_map: { id: "result.id", state: { const: "open" }, note: "args.title", old: "result.old" },
  },
});
tool.reversible("optional arguments left out", {
  ...common,
  compensation: { tool: undoWithOptions, argument_map: { id: "result.id", state: { const: "closed" } } },
});
tool.reversible("optional argument fixed", {
  ...common,
  compensation: {
    tool: undoWithOptions,
    argument_map: {
      id: "result.id",
      state: { const: "closed" },
      note: { const: "undone" },
      old: { const: null },
    },
  },
});

tool.reversible("missing", {
  ...common,
  // @ts-expect-error a required argument of the compensation has no source
  compensation: { tool: undo, argument_map: {} },
});
tool.reversible("extra", {
  ...common,
  // @ts-expect-error the compensation takes no argument of that name
  compensation: { tool: undo, argument_map: { id: "result.id", other: "args.title" } },
});
tool.reversible("path", {
  ...common,
  // @ts-expect-error there is no such path
  compensation: { tool: undo, argument_map: { id: "result.number" } },
});
tool.reversible("type", {
  ...common,
  // @ts-expect-error a string does not fit an integer argument
  compensation: { tool: undo, argument_map: { id: "result.url" } },
});
tool.reversible("optional", {
  ...common,
  // @ts-expect-error an optional argument cannot feed a required one
  compensation: { tool: undo, argument_map: { id: "args.id" } },
});
tool.reversible("optional feeds optional", {
  ...common,
  compensation: {
    tool: undoWithOptions,
    argument_map: {
      id: "result.id",
      state: { const: "open" },
      note: "result.tag",
    },
  },
});
tool.reversible("null", {
  ...common,
  compensation: {
    tool: undoWithOptions,
    argument_map: {
      id: "result.id",
      state: { const: "open" },
      // @ts-expect-error null does not fit a string
      note: "result.old",
    },
  },
});
tool.reversible("const type", {
  ...common,
  // @ts-expect-error the fixed value is a string, the argument an integer
  compensation: { tool: undo, argument_map: { id: { const: "7" } } },
});
tool.reversible("const literal", {
  ...common,
  // @ts-expect-error the fixed value is not one of the two
  compensation: { tool: undoWithOptions, argument_map: { id: "result.id", state: { const: "opened" } } },
});
tool.reversible("const extra", {
  ...common,
  // @ts-expect-error a constant has one member
  compensation: { tool: undo, argument_map: { id: { const: 7, path: "result.id" } } },
});
tool.reversible("not idempotent", {
  ...common,
  // @ts-expect-error the compensation must be idempotent
  compensation: { tool: notIdempotent, argument_map: { id: "result.id" } },
});
tool.reversible("erased", {
  ...common,
  // @ts-expect-error a tool whose types were thrown away may be anything
  compensation: { tool: undo as Tool, argument_map: { id: "result.url" } },
});
tool.reversible("unfinished", {
  ...common,
  // @ts-expect-error the compensation has no handler yet
  compensation: { tool: tool.idempotent("half", idInput), argument_map: { id: "result.id" } },
});
tool.reversible("foreign", {
  ...common,
  // @ts-expect-error the compensation belongs to another client
  compensation: { tool: otherClient, argument_map: { id: "result.id" } },
});
// @ts-expect-error a reversible tool names its compensation
tool.reversible("none", common);
// @ts-expect-error and so does a compensable one
tool.compensable("none", common);
tool.readOnly("read", {
  ...common,
  // @ts-expect-error a read-only tool has nothing to undo
  compensation: { tool: undo, argument_map: { id: "result.id" } },
});
tool.irreversible("forever", {
  ...common,
  // @ts-expect-error an irreversible tool has no undo
  compensation: { tool: undo, argument_map: { id: "result.id" } },
});

// ── requires ─────────────────────────────────────────────────────────────────────────────────────
const reading = tool.readOnly("reads", common);
const reads = reading.run(async () => result);
tool.irreversible("two earlier tools", {
  ...common,
  requires: [
    { tool: sound, match: { id: "result.id", title: "args.title" } },
    { tool: undo, match: { id: "args.id" } },
    { tool: reads, match: { title: "result.url" } },
  ],
});
tool.reversible("requires beside compensation", {
  ...common,
  compensation: { tool: undo, argument_map: { id: "result.id" } },
  requires: [{ tool: sound, match: { title: "result.url" } }],
});
tool.irreversible("empty", {
  ...common,
  // @ts-expect-error an empty match would wait for every earlier step
  requires: [{ tool: sound, match: {} }],
});
tool.irreversible("no match", {
  ...common,
  // @ts-expect-error nothing says which earlier step
  requires: [{ tool: sound }],
});
tool.irreversible("no tool", {
  ...common,
  // @ts-expect-error nothing says which tool
  requires: [{ match: { id: "result.id" } }],
});
tool.irreversible("tool in many lines", {
  ...common,
  requires: [
    // @ts-expect-error nothing says which tool, and nothing else is wrong
    {
      match: {
        id: "result.id",
      },
    },
  ],
});
tool.irreversible("erased", {
  ...common,
  // @ts-expect-error a tool whose types were thrown away proves nothing
  requires: [{ tool: sound as Tool, match: { id: "result.id" } }],
});
tool.irreversible("unknown own argument", {
  ...common,
  // @ts-expect-error this tool takes no argument of that name
  requires: [{ tool: sound, match: { id: "result.id", number: "result.id" } }],
});
tool.irreversible("unknown path", {
  ...common,
  // @ts-expect-error the earlier tool has no such result
  requires: [{ tool: sound, match: { id: "result.number" } }],
});
tool.irreversible("type", {
  ...common,
  // @ts-expect-error a string never equals an integer
  requires: [{ tool: sound, match: { id: "result.url" } }],
});
tool.irreversible("optional result", {
  ...common,
  // @ts-expect-error the earlier result may lack it
  requires: [{ tool: sound, match: { title: "result.tag" } }],
});
tool.irreversible("optional argument", {
  ...common,
  // @ts-expect-error the earlier call may have been made without it
  requires: [{ tool: sound, match: { id: "args.id" } }],
});
tool.irreversible("constant", {
  ...common,
  // @ts-expect-error a constant says nothing about the earlier step
  requires: [{ tool: sound, match: { id: { const: 7 } } }],
});
tool.irreversible("second is wrong", {
  ...common,
  requires: [
    { tool: sound, match: { id: "result.id" } },
    // @ts-expect-error only the second entry is wrong: `undo` has no such result
    { tool: undo, match: { id: "result.id" } },
  ],
});
tool.readOnly("read", {
  ...common,
  // @ts-expect-error a read is never undone, so it keeps nothing waiting
  requires: [{ tool: sound, match: { id: "result.id" } }],
});

// ── holds ────────────────────────────────────────────────────────────────────────────────────────
// @ts-expect-error an idempotent tool says first how its goal is seen
tool.idempotent("run at once", idInput).run;
// @ts-expect-error landed alone does not do
tool.idempotent("landed at once", idInput).landed;
// @ts-expect-error reads have no goal state
tool.readOnly("read", common).holds;
// @ts-expect-error neither have irreversible tools
tool.irreversible("forever", common).holds;
const undoable = { ...common, compensation: { tool: undo, argument_map: { id: "result.id" } } } as const;
// @ts-expect-error nor reversible ones
tool.reversible("reversible", undoable).holds;
// @ts-expect-error nor compensable ones
tool.compensable("compensable", undoable).holds;
// @ts-expect-error the answer is yes or no
tool.idempotent("answer", idInput).holds(async () => "yes");
// @ts-expect-error the check asks a backend, so it is asynchronous
tool.idempotent("synchronous", idInput).holds(() => true);
// @ts-expect-error once is enough
tool.idempotent("twice", idInput).holds(async () => true).holds;

// ── landed ───────────────────────────────────────────────────────────────────────────────────────
const write = tool.irreversible("write", common);
write
  .landed(async ({ args }) => (args.title === "" ? { landed: false } : { landed: true, result }))
  .run(async () => result);
write.landed(async () => "unknown");
tool
  .idempotent("both", idInput)
  .holds(async () => true)
  .landed(async () => "unknown")
  .run(async () => ({}));
// @ts-expect-error the result is the tool's own
write.landed(async () => ({ landed: true, result: { id: "1", url: "", old: null } }));
// @ts-expect-error a proof comes with the result
write.landed(async () => ({ landed: true }));
// @ts-expect-error no such answer
write.landed(async () => "perhaps");
// @ts-expect-error a boolean is no evidence
write.landed(async () => true);
// @ts-expect-error a read leaves nothing to look for
tool.readOnly("read", common).landed;
// @ts-expect-error once is enough
write.landed(async () => "unknown").landed;

// ── checkpoint ───────────────────────────────────────────────────────────────────────────────────
const keeps = tool.reversible("keeps", {
  ...common,
  compensation: { tool: undo, argument_map: { id: "result.id" } },
  checkpoint: { result: ["id", "old"] },
});
keeps.run(async ({ checkpoint }) => {
  await checkpoint({ result: { id: 1 } });
  await checkpoint({ result: { id: 1, old: null } });
  // @ts-expect-error the result has no such field
  await checkpoint({ result: { number: 1 } });
  // @ts-expect-error the result has it, the declaration does not
  await checkpoint({ result: { url: "" } });
  // @ts-expect-error the field is an integer
  await checkpoint({ result: { id: "1" } });
  // @ts-expect-error absent and undefined are different
  await checkpoint({ result: { id: undefined } });
  return result;
});
tool.irreversible("unknown field", {
  ...common,
  // @ts-expect-error the result has no such field
  checkpoint: { result: ["number"] },
});
tool.readOnly("read", {
  ...common,
  // @ts-expect-error a read writes nothing that needs one
  checkpoint: { result: ["id"] },
});
write.run(async (call) => {
  // @ts-expect-error the declaration names no field to keep
  call.checkpoint;
  return result;
});
reading.run(async (call) => {
  // @ts-expect-error neither does a read
  call.checkpoint;
  return result;
});

// ── residue and guarantees ───────────────────────────────────────────────────────────────────────
tool.irreversible("told", {
  ...common,
  residue: [{ id: "stays", text: "It stays." }],
  idempotency: { header: "Idempotency-Key", window_hours: 24, replays_errors: true },
});
// @ts-expect-error residue is text, one entry each
tool.irreversible("one text", { ...common, residue: "It stays." });
tool.idempotent("guard", {
  ...idInput,
  // @ts-expect-error no such guard
  guard: { kind: "etag", server_side: true },
});
tool.idempotent("guard", {
  ...idInput,
  // @ts-expect-error who holds it is part of the claim
  guard: { kind: "version" },
});
tool.irreversible("half", {
  ...common,
  // @ts-expect-error how long it holds, and whether errors are replayed, is missing
  idempotency: { header: "Idempotency-Key" },
});

// ── results ──────────────────────────────────────────────────────────────────────────────────────
// @ts-expect-error the handler returns what the output schema says
tool.readOnly("result", common).run(async () => ({ id: "1", url: "", old: null }));
// @ts-expect-error all of it
write.run(async () => ({ id: 1, url: "" }));
// @ts-expect-error asynchronously
write.run(() => result);

// @ts-expect-error nothing that the output schema does not have
write.run(async () => ({ ...result, password: "" }));
// @ts-expect-error `any` is no result
write.run(async () => JSON.parse("{}"));
const fetched = async <T>(): Promise<T> => ({}) as T;
// @ts-expect-error an answer nobody described is not taken for the result
write.run(async () => fetched());
write.run(async () => (Math.random() < 0.5 ? result : { ...result, tag: "" }));

// ── inference: exact, and nowhere `any` ──────────────────────────────────────────────────────────
exactly<Tool<Client, Args, Result, "reversible">>()(sound);
exactly<Tool<Client, { id: number }, Static<typeof idInput.output>, "idempotent">>()(undo);
keeps
  .landed(async (call) => {
    exactly<LostCall<Client, Args, Pick<Result, "id" | "old">, never>>()(call);
    exactly<Args>()(call.args);
    exactly<Client>()(call.client);
    exactly<Date>()(call.since);
    exactly<Partial<Pick<Result, "id" | "old">> | undefined>()(call.checkpoint?.result);
    return "unknown";
  })
  .run(async (call) => {
    exactly<Args>()(call.args);
    exactly<string>()(call.args.title);
    exactly<number | undefined>()(call.args.id);
    exactly<Client>()(call.client);
    exactly<string | undefined>()(call.idempotencyKey);
    exactly<Partial<Pick<Result, "id" | "old">>>()({} as Parameters<typeof call.checkpoint>[0]["result"]);
    // @ts-expect-error no such argument
    call.args.body;
    return result;
  });
write.run(async (call) => {
  exactly<WriteCall<Client, Args>>()(call);
  return result;
});
tool.idempotent("exact", idInput).holds(async (call) => {
  exactly<Call<Client, { id: number }>>()(call);
  return true;
});
tool.readOnly("exact", common).run(async (call) => {
  exactly<Call<Client, Args>>()(call);
  return result;
});
tool
  .irreversible("with requires", { ...common, requires: [{ tool: sound, match: { id: "result.id" } }] })
  .run(async (call) => {
    exactly<Args>()(call.args);
    return result;
  });
exactly<Parameters<Parameters<typeof write.landed>[0]>[0]["args"]>()({} as Args);
exactly<Awaited<ReturnType<Parameters<typeof write.landed>[0]>>>()({} as Landed<Result>);
// @ts-expect-error the helper itself notices `any`
exactly<Args>()(JSON.parse("{}"));

// ── defaults ─────────────────────────────────────────────────────────────────────────────────────
tool
  .readOnly("page", {
    ...text,
    input: s.object(
      { id: s.integer() },
      { limit: s.integer("Entries.", { default: 10 }), kind: s.oneOf(["a", "b"], "Kind.", { default: "a" }) },
    ),
    output: s.object({}),
  })
  .run(async (call) => {
    exactly<{ id: number; limit: number; kind: "a" | "b" }>()(call.args);
    return {};
  });
// @ts-expect-error the default is one of the values
s.oneOf(["a", "b"], "Kind.", { default: "c" });

// ── readers ──────────────────────────────────────────────────────────────────────────────────────
const split = toolsFor<{ read(): string; write(): void }, { read(): string }>("z");
split
  .idempotent("looks", idInput)
  .holds(async (call) => {
    exactly<{ read(): string }>()(call.client);
    // @ts-expect-error a question never writes
    call.client.write;
    return "unknown";
  })
  .run(async ({ client }) => {
    client.write();
    return {};
  });

// ── target, guard, conflict ──────────────────────────────────────────────────────────────────────
// @ts-expect-error an undo says what it works on
tool.idempotent("aimless", plain);
tool.idempotent("astray", {
  ...plain,
  // @ts-expect-error it takes no argument of that name
  target: ["name"],
});
tool.reversible("checkpoint guard", {
  ...common,
  compensation: { tool: undo, argument_map: { id: "result.id" } },
  checkpoint: { result: ["id"], evidence: ["etag"], guard: "id" },
});
tool.reversible("checkpoint guard", {
  ...common,
  compensation: { tool: undo, argument_map: { id: "result.id" } },
  // @ts-expect-error the compensation takes no argument of that name
  checkpoint: { result: ["id"], guard: "etag" },
});

// ── edges by name, and by overlap ────────────────────────────────────────────────────────────────
tool.irreversible("by name", {
  ...common,
  requires: [{ tool: "x.later", match: { title: { overlaps: "args.path" } } }],
});
tool.irreversible("by name", {
  ...common,
  // @ts-expect-error this tool takes no argument of that name
  requires: [{ tool: "x.later", match: { name: "args.path" } }],
});
tool.irreversible("overlap", {
  ...common,
  requires: [{ tool: sound, match: { title: { overlaps: "result.url" } } }],
});
tool.irreversible("overlap", {
  ...common,
  // @ts-expect-error only texts overlap
  requires: [{ tool: sound, match: { title: { overlaps: "result.id" } } }],
});
