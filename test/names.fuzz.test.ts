import {
  ConflictError,
  type Connector,
  ConnectorError,
  InvalidArgumentsError,
} from "@reversi-connector/core";
import fc from "fast-check";
import { github } from "../connectors/github/src/index.ts";
import { sandbox as githubSandbox } from "../connectors/github/src/sandbox.ts";
import { gitlab } from "../connectors/gitlab/src/index.ts";
import { sandbox as gitlabSandbox } from "../connectors/gitlab/src/sandbox.ts";
import { linear } from "../connectors/linear/src/index.ts";
import { sandbox as linearSandbox } from "../connectors/linear/src/sandbox.ts";
import { slack } from "../connectors/slack/src/index.ts";
import { sandbox as slackSandbox } from "../connectors/slack/src/sandbox.ts";
import { always } from "./fuzz.ts";

type Values = Readonly<Record<string, unknown>>;

const endings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of endings) await end();
});
const casesOfOne = 20;
/** One for a few cases: sandboxes limit their rates as the vendors do. */
function shared<Backend extends { close(): Promise<void>; readonly options: object }>(
  start: () => Promise<Backend>,
  connect: (options: Backend["options"]) => Connector,
) {
  const begin = async () => {
    const backend = await start();
    const connector = connect(backend.options);
    endings.push(async () => {
      await connector.close();
      await backend.close();
    });
    return { backend, connector };
  };
  let cases = 0;
  let running = undefined as ReturnType<typeof begin> | undefined;
  return () => {
    if (cases++ % casesOfOne === 0) running = undefined;
    running ??= begin();
    return running;
  };
}

/** What an engine would send to undo a call, by the manifest. */
async function undo(connector: Connector, tool: string, args: Values, result: Values): Promise<unknown> {
  const { compensation } = connector.manifests.find((manifest) => manifest.tool === tool) ?? {};
  const from: Readonly<Record<string, Values>> = { args, result };
  const mapped = Object.entries(compensation?.argument_map ?? {}).map(([name, source]) => {
    const [root = "", key = ""] = String(source).split(".");
    return [name, from[root]?.[key]];
  });
  return connector.tools[compensation?.tool ?? ""]?.(Object.fromEntries(mapped));
}

type Ended = { readonly result: Values } | { readonly error: unknown };
const ending = (call: Promise<unknown> | undefined): Promise<Ended> =>
  (call ?? Promise.reject(new Error("no such tool"))).then(
    (result) => ({ result: result as Values }),
    (error: unknown) => ({ error }),
  );

const units = [
  "a",
  "A",
  "b",
  "é",
  "e\u0301",
  "😀",
  "/",
  "//",
  ".",
  "..",
  "%2f",
  "%2F",
  "%",
  "?",
  "#",
  "&",
  "=",
  "+",
  " ",
  "-",
  "_",
  "@",
  "@{",
  "{",
  "~",
  "\\",
  ":",
  ";",
  "'",
  '"',
  "<",
  ".lock",
  "refs/heads/",
  "HEAD",
  "\u00a0",
  "\u202e",
  "\u0001",
];
const name = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom("a", "B", "é", "😀", "%", "#", "&", "+", "-", "="),
      minLength: 1,
      maxLength: 8,
    }),
  },
  fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
  fc.constantFrom(".", "..", "...", "%2e", "HEAD", "@", "0".repeat(40)),
);

const onGitHub = shared(githubSandbox, github);
const onGitLab = shared(gitlabSandbox, gitlab);
const onSlack = shared(slackSandbox, slack);
const onLinear = shared(linearSandbox, linear);
const site = { owner: "acme", repo: "site" };
const counted: Record<string, number> = {};
const count = (what: string) => {
  counted[what] = (counted[what] ?? 0) + 1;
};

always(
  "github: a branch of any name is made under just that name and taken away again, or refused before anything is sent",
  60,
  fc.asyncProperty(name, async (branch) => {
    const { backend, connector } = await onGitHub();
    const before = [...backend.site.refs];
    backend.forget();
    const args = { ...site, branch };
    const ended = await ending(connector.tools["github.create_branch"]?.(args));
    if ("error" in ended) {
      if (InvalidArgumentsError.is(ended.error)) expect(backend.requests.length).toBe(0);
      else expect(ConnectorError.is(ended.error)).toBe(true);
      expect([...backend.site.refs]).toEqual(before);
      count("refused");
      return;
    }
    const added = [...backend.site.refs.keys()].filter((ref) => !before.some(([known]) => known === ref));
    expect(added).toEqual([`heads/${branch}`]);
    expect(await undo(connector, "github.create_branch", args, ended.result)).toMatchObject({
      already: false,
    });
    expect([...backend.site.refs]).toEqual(before);
    count("github branch");
  }),
);

const issues = new WeakMap<Connector, Promise<unknown> | undefined>();
always(
  "github: a label of any name is put on one issue and taken off again, and no other label with it",
  60,
  fc.asyncProperty(
    fc.uniqueArray(name, { minLength: 1, maxLength: 3, selector: (one) => one.toLowerCase() }),
    async (labels) => {
      const { backend, connector } = await onGitHub();
      const opened =
        issues.get(connector) ?? connector.tools["github.create_issue"]?.({ ...site, title: "x" });
      issues.set(connector, opened);
      const { issue_number } = ((await opened) ?? {}) as Values;
      const others = ["a", "a/b", "%61", "."];
      const given = { ...site, issue_number, labels: others.slice(0, 3) };
      await connector.tools["github.add_labels"]?.(given);
      const on = async () => {
        const state = JSON.stringify(await connector.tools["github.get_issue"]?.({ ...site, issue_number }));
        return (JSON.parse(state) as { readonly labels: readonly string[] }).labels;
      };
      const before = await on();
      backend.forget();
      const args = { ...site, issue_number, labels };
      const ended = await ending(connector.tools["github.add_labels"]?.(args));
      if ("error" in ended) {
        if (InvalidArgumentsError.is(ended.error)) expect(backend.requests.length).toBe(0);
        else expect(ConnectorError.is(ended.error)).toBe(true);
        expect(await on()).toEqual(before);
        return;
      }
      const lower = (all: readonly string[]) => all.map((one) => one.toLowerCase()).sort();
      expect(lower(await on())).toEqual(lower([...new Set([...lower(before), ...lower(labels)])]));
      await undo(connector, "github.add_labels", args, ended.result);
      expect(lower(await on())).toEqual(lower(before));
      count("github label");
    },
  ),
);

always(
  "gitlab: a branch of any name is made under just that name and taken away again, or refused before anything is sent",
  60,
  fc.asyncProperty(name, async (branch) => {
    const { backend, connector } = await onGitLab();
    const [project] = backend.world.projects;
    if (!project) throw new Error("the sandbox starts with a project");
    const before = [...project.branches];
    backend.forget();
    const args = { project: project.path, branch };
    const ended = await ending(connector.tools["gitlab.create_branch"]?.(args));
    if ("error" in ended) {
      if (InvalidArgumentsError.is(ended.error)) expect(backend.requests.length).toBe(0);
      else expect(ConnectorError.is(ended.error)).toBe(true);
      expect([...project.branches]).toEqual(before);
      return;
    }
    const added = [...project.branches.keys()].filter((one) => !before.some(([known]) => known === one));
    expect(added).toEqual([branch]);
    await undo(connector, "gitlab.create_branch", args, ended.result);
    expect([...project.branches]).toEqual(before);
    count("gitlab branch");
  }),
);

always(
  "gitlab: a project's path is one segment that decodes to it, whatever it holds",
  80,
  fc.asyncProperty(
    fc.oneof(
      name,
      fc.array(name, { minLength: 2, maxLength: 3 }).map((parts) => parts.join("/")),
    ),
    async (project) => {
      const { backend, connector } = await onGitLab();
      backend.forget();
      const before = await backend.state();
      const ended = await ending(connector.tools["gitlab.create_issue"]?.({ project, title: "x" }));
      expect(
        "error" in ended && (InvalidArgumentsError.is(ended.error) || ConnectorError.is(ended.error)),
      ).toBe(true);
      for (const { pathname } of backend.requests) {
        expect(decodeURIComponent(pathname.split("/")[4] ?? "")).toBe(project);
        expect(pathname.split("/").slice(5)).toEqual(pathname.endsWith("/issues") ? ["issues"] : []);
      }
      expect(await backend.state()).toEqual(before);
    },
  ),
);

always(
  "slack: a text and an emoji's name arrive as they were given, in one request each, and are undone",
  40,
  fc.asyncProperty(name, name, async (text, emoji) => {
    const { backend, connector } = await onSlack();
    const channel = backend.general.id;
    const args = { channel, text };
    const before = backend.general.messages.length;
    const ended = await ending(connector.tools["slack.post_message"]?.(args));
    if ("error" in ended) {
      expect(InvalidArgumentsError.is(ended.error) || ConnectorError.is(ended.error)).toBe(true);
      expect(backend.general.messages.length).toBe(before);
      return;
    }
    backend.forget();
    const reaction = { channel, ts: ended.result["ts"], name: emoji };
    await ending(connector.tools["slack.add_reaction"]?.(reaction));
    for (const { pathname } of backend.requests) expect(pathname).toMatch(/^\/api\/[a-z]+\.[A-Za-z.]+$/);
    await undo(connector, "slack.post_message", args, ended.result);
    count("slack text");
    expect(backend.general.messages.length).toBe(before);
  }),
);

always(
  "linear: what is given travels in variables only, and no text of it in the document",
  40,
  fc.asyncProperty(
    name.filter((one) => one.trim().length > 3),
    name,
    async (title, description) => {
      const { backend, connector } = await onLinear();
      backend.forget();
      const args = { team_id: backend.team.id, title, description };
      const ended = await ending(connector.tools["linear.create_issue"]?.(args));
      expect(
        "result" in ended ||
          InvalidArgumentsError.is(ended.error) ||
          ConnectorError.is(ended.error) ||
          ConflictError.is(ended.error),
      ).toBe(true);
      for (const request of backend.requests) {
        const { query } = request.json() as { readonly query: string };
        expect(query).toMatch(/^(query|mutation) \w+[^"']*$/);
        expect(request.pathname).toMatch(/graphql$/);
      }
      if ("result" in ended) {
        expect(ended.result).not.toHaveProperty("error");
        await undo(connector, "linear.create_issue", args, ended.result);
        count("linear issue");
      }
    },
  ),
);

test("(names were taken and refused often enough)", () => {
  expect(Object.keys(counted)).toHaveLength(6);
  expect(Math.min(...Object.values(counted))).toBeGreaterThan(9);
});
