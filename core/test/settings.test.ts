// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import {
  checkOptions,
  InvalidArgumentsError,
  type ReversiField,
  readPackage,
  readSettings,
} from "../src/index.ts";

const field: ReversiField = {
  connector: "jira",
  main: "JIRA_TOKEN",
  settings: {
    JIRA_TOKEN: { option: "token", description: "Token.", secret: true },
    JIRA_EMAIL: { option: "email", description: "Address." },
    JIRA_SITE: { option: "site", description: "Site.", optional: true },
  },
  flags: {
    root: { option: "root", description: "Folder." },
    "backup-dir": { option: "backupDir", description: "Folder.", optional: true },
  },
};
const token = "abcdefgh12345678";
const environment = { JIRA_TOKEN: token, JIRA_EMAIL: "me@example.com" };
const flags = { root: "/srv" };

const refusal = (run: () => unknown): InvalidArgumentsError => {
  try {
    run();
  } catch (error) {
    if (InvalidArgumentsError.is(error)) return error;
    throw error;
  }
  throw new Error("not refused");
};

describe("from the environment and from flags", () => {
  test("values become options by their names in code", () => {
    expect(readSettings(field, { ...environment, OTHER: "x" }, { ...flags, "backup-dir": "b" })).toEqual({
      options: { token, email: "me@example.com", root: "/srv", backupDir: "b" },
      missing: [],
    });
  });
  test("what is required and not set is named, flags as one types them", () => {
    expect(readSettings(field, {})).toEqual({ options: {}, missing: ["JIRA_TOKEN", "JIRA_EMAIL", "--root"] });
  });
  test.each(["", " ", "   ", "\n", "\t\r\n", "\u00a0", undefined])("%j is not set", (value) => {
    const { options, missing } = readSettings(
      field,
      { ...environment, JIRA_TOKEN: value, JIRA_SITE: value },
      flags,
    );
    expect(options).toEqual({ email: "me@example.com", root: "/srv" });
    expect(missing).toEqual(["JIRA_TOKEN"]);
  });
  test.each([`${token}\n`, ` ${token}`, `\t${token}\r\n`, `\ufeff${token}`])(
    "blanks around a value are no part of it: %j",
    (value) => {
      expect(readSettings(field, { ...environment, JIRA_TOKEN: value }, flags).options["token"]).toBe(token);
    },
  );
  test.each([
    ["abcdefgh\n12345678"],
    ["abcdefgh 12345678"],
    ["abcdefgh\u202812345678"],
    ["abcdefgh\u0000" + "12345678"],
    ["abcdefgh\u007f12345678"],
    ["abcdefgh\u00a012345678"],
    ["abcdefgh\u200b12345678"],
  ])("a blank or an invisible character inside a secret is refused, and not repeated: %j", (value) => {
    const { message, problems } = refusal(() =>
      readSettings(field, { ...environment, JIRA_TOKEN: value }, flags),
    );
    expect(message).toBe(
      "JIRA_TOKEN has a blank, line break, control or invisible character inside; copy it again",
    );
    expect(problems).toEqual([]);
  });
  test.each([
    "${GITHUB_TOKEN}",
    "${env:GITHUB_TOKEN}",
    "${GITHUB_TOKEN:-}",
    "<token>",
    "<your token here>",
    "$GITHUB_TOKEN",
    " ${X} ",
  ])("a placeholder that nobody replaced is refused, secret or not: %s", (value) => {
    for (const name of ["JIRA_TOKEN", "JIRA_EMAIL", "JIRA_SITE"]) {
      const { message } = refusal(() => readSettings(field, { ...environment, [name]: value }, flags));
      expect(message).toBe(`${name} holds a placeholder that nobody replaced; set it to the real value`);
    }
  });
  test("what only resembles a placeholder is a value", () => {
    for (const value of ["$ecret-pass", "a${B}cdefgh", "pa$$word", "<<abcdef", "$1234567"]) {
      expect(readSettings(field, { ...environment, JIRA_TOKEN: value }, flags).options["token"]).toBe(value);
    }
  });
  test("four characters are no credential", () => {
    const { message } = refusal(() => readSettings(field, { ...environment, JIRA_TOKEN: "k4x!" }, flags));
    expect(message).toBe("JIRA_TOKEN is too short for a credential (8 characters at least)");
    expect(message).not.toMatch("k4x!");
  });
  test("a declared prefix may stand before a secret: only the rest is held to the rules, and is the secret", () => {
    const prefixed = {
      ...field,
      settings: { KEY: { option: "key", description: "Key.", secret: true, prefix: "Bearer " } },
      flags: {},
    };
    for (const value of [token, `Bearer ${token}`]) {
      expect(readSettings(prefixed, { KEY: ` ${value}\n` })).toEqual({
        options: { key: value },
        missing: [],
      });
      expect(checkOptions(prefixed, { key: value })).toEqual({ options: { key: value }, secrets: [token] });
    }
    for (const value of ["Bearer ", "Bearer <token>", `Bearer  ${token}`, `bearer ${token}`, "Bearer abc"]) {
      expect(refusal(() => checkOptions(prefixed, { key: value })).message).toMatch(/^jira: key \(KEY\)/);
    }
  });
  test("what is no secret may be short, and may have blanks inside", () => {
    const { options } = readSettings(field, { ...environment, JIRA_SITE: "a" }, { root: "/srv/my files" });
    expect(options).toMatchObject({ site: "a", root: "/srv/my files" });
  });
});

describe("in code", () => {
  const given = { token, email: "me@example.com", root: "/srv" };
  test("options are held to the same rules, and the secrets among them are told", () => {
    expect(
      checkOptions(field, { ...given, token: ` ${token}\n`, baseUrl: new URL("http://localhost") }),
    ).toEqual({
      options: { ...given, token, baseUrl: new URL("http://localhost") },
      secrets: [token],
    });
  });
  test("an optional one may be left out, undefined or blank", () => {
    for (const site of [undefined, "", "  "]) {
      const { options } = checkOptions(field, { ...given, site });
      expect(Object.keys(options)).toEqual(Object.keys(given));
    }
  });
  test.each<[string, object, string]>([
    ["a required one that is missing", { ...given, token: undefined }, "jira: token (JIRA_TOKEN) is not set"],
    ["a flag that is missing", { ...given, root: "" }, "jira: root (--root) is not set"],
    ["what is no text", { ...given, token: 12345678 }, "jira: token (JIRA_TOKEN) must be a string"],
    [
      "a placeholder",
      { ...given, email: "${EMAIL}" },
      "jira: email (JIRA_EMAIL) holds a placeholder that nobody replaced; set it to the real value",
    ],
    [
      "a short secret",
      { ...given, token: "short" },
      "jira: token (JIRA_TOKEN) is too short for a credential (8 characters at least)",
    ],
  ])("%s is refused by the name of the option and of its variable", (_what, options, message) => {
    expect(refusal(() => checkOptions(field, options)).message).toBe(message);
  });
  test("the given options are left as they were", () => {
    const frozen = Object.freeze({ ...given, site: "" });
    checkOptions(field, frozen);
    expect(frozen.site).toBe("");
  });
});

test("a package's facts are read from the package.json one folder above the module", () => {
  expect(readPackage(new URL("../src/index.ts", import.meta.url).href)).toMatchObject({
    name: "@reversi-connector/core",
  });
});
