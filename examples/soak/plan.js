// What a history will do, drawn from its seed before anything starts: calls, faults, kills, edits by others, rollbacks.

/** Small, fast and good enough (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)],
    times: (least, most) => least + below(most - least + 1),
  };
}

const paths = [
  "a.txt",
  "b.txt",
  "d/c.txt",
  "n1.txt",
  "n2.txt",
  "d/n3.txt",
  "x/m.txt",
  "x/y/m.txt",
  "e/c.txt",
];
const folders = ["x", "x/y", "d/z", "e/f/g"];
const movable = [...paths, "d", "x", "x/y"];
const labels = ["bug", "l0", "l1", "l2"];

/** A call; `issue` 0 is the one of another person, others are the run's own, as far as it has any. */
function drawCall(random, number) {
  const kind = random.pick([
    ...["issue", "issue", "comment", "comment", "label", "label", "label", "branch", "branch"],
    ...["write", "write", "write", "delete", "move", "move", "dir"],
  ]);
  const some = () => labels.filter(() => random.chance(0.5));
  const wanted = some();
  const chosen = wanted.length > 0 ? wanted : ["l0"];
  switch (kind) {
    case "issue":
      return { kind, title: `issue ${number}`, labels: random.chance(0.3) ? chosen : undefined };
    case "comment":
      return { kind, issue: random.below(3), body: `comment ${number}` };
    case "label":
      return { kind, issue: random.below(3), labels: chosen };
    case "branch":
      return { kind, branch: random.pick(["work", "work/deep", "fix", "fix2"]) };
    case "write":
      return { kind, path: random.pick(paths), content: `written by call ${number}\n` };
    case "delete":
      return { kind, path: random.pick(paths) };
    case "move":
      return { kind, from: random.pick(movable), to: random.pick(random.chance(0.3) ? ["e", "q"] : paths) };
    default:
      return { kind, path: random.pick(folders) };
  }
}

/** A fault on the wire, for the next request that fits. Late deliveries stay within call timeout and grace. */
function drawFault(random, writes) {
  const kind = random.pick([
    "cutBefore",
    "cutAfter",
    "cutAfter",
    "late",
    "late",
    "hang",
    "status",
    "cutBody",
    "garbage",
  ]);
  const effect = random.chance(0.5);
  const fault = {
    cutBefore: { kind, reset: effect },
    cutAfter: { kind, reset: effect },
    late: { kind, afterMs: random.times(1, 1400) },
    hang: { kind, effect },
    status: { kind, status: random.pick([500, 502, 503]), effect },
    cutBody: { kind, chunked: effect },
    garbage: { kind },
  }[kind];
  const method = random.chance(0.8) ? writes : "GET";
  return { fault, method, skip: method === "GET" ? random.below(3) : 0 };
}

const drawEdit = (random, number) => ({
  kind: random.pick([
    ...[
      "own comment",
      "own label",
      "retitle",
      "edit comment",
      "delete comment",
      "take label off",
      "close issue",
    ],
    ...[
      "delete issue",
      "move branch",
      "delete branch",
      "save file",
      "save file",
      "edit in place",
      "delete file",
    ],
    ...["file in folder"],
  ]),
  text: `person ${number}`,
  at: random.below(1000),
  path: random.pick(paths),
});

const drawKill = (random, victims, longest) => ({
  victim: random.pick(victims),
  when: random.pick(["delay", "arrival", "effect"]),
  ms: random.times(0, longest),
  nth: random.times(1, 6),
});

/** Everything a history will do. */
export function drawPlan(seed) {
  const random = generator(seed);
  const calm = random.chance(0.15);
  const disturbed = (probability) => !calm && random.chance(probability);
  let number = 0;
  const rounds = Array.from({ length: random.times(3, 7) }, () => ({
    calls: Array.from({ length: random.chance(0.25) ? 2 : 1 }, () => drawCall(random, ++number)),
    fault: disturbed(0.35) ? drawFault(random, "POST") : undefined,
    edit: disturbed(0.2) ? drawEdit(random, ++number) : undefined,
  }));
  const kill = disturbed(0.4)
    ? { round: random.below(rounds.length), ...drawKill(random, ["gateway", "upstream"], 60) }
    : undefined;
  const rollbacks = Array.from({ length: calm ? 0 : random.below(3) }, () => ({
    faults: Array.from({ length: random.below(3) }, () =>
      drawFault(random, random.pick(["DELETE", "PATCH", "DELETE"])),
    ),
    kill: disturbed(0.45) ? drawKill(random, ["reversi", "compensator"], 800) : undefined,
    edit: disturbed(0.2) ? drawEdit(random, ++number) : undefined,
  }));
  return {
    seed,
    rounds,
    kill,
    /** The session is still open when the rollback begins. */
    open: random.chance(0.25),
    edits: disturbed(0.3) ? [drawEdit(random, ++number)] : [],
    rollbacks,
  };
}
