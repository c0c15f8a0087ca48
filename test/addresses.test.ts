/** Connectors whose address can be set, and what else each of them needs. */
const options: Readonly<Record<string, object>> = {
  github: { token: "not-a-real-token" },
  gitlab: { token: "not-a-real-token" },
  linear: { apiKey: "not-a-real-key" },
  slack: { token: "not-a-real-token" },
  stripe: { secretKey: "not-a-real-key" },
  teams: { token: "not-a-real-token" },
};

test.each(Object.entries(options))(
  "%s: a base address that holds user info or no scheme is refused without being repeated",
  async (name, more) => {
    const { [name]: make } = await import(`../connectors/${name}/src/index.ts`);
    for (const baseUrl of ["https://me:secret-word@host", "host.example/v1", "ftp://host"]) {
      expect(() => make({ ...more, baseUrl })).toThrow(/baseUrl/);
      expect(() => make({ ...more, baseUrl })).not.toThrow(/secret-word/);
    }
  },
);
