import { certificateFor, everyHostAt } from "../../../test/hosts.ts";
import { azure } from "../src/index.ts";
import { account, token } from "../src/sandbox/wire.ts";
import { sandbox } from "../src/sandbox.ts";

test("without an endpoint everything goes to the account's own host, sources of copies included", async () => {
  const host = `${account}.blob.core.windows.net`;
  const tls = certificateFor(`DNS:${host}`);
  const backend = await sandbox({ tls });
  await everyHostAt(backend.address, async (hosts) => {
    const connector = azure({ token, account, ca: tls.cert });
    const call = async (name: string, args: object) =>
      (await connector.tools[`azure.${name}`]?.(args)) as Record<string, unknown>;
    try {
      const place = { container: "notes", blob: "ü/ñ +&=.txt" };
      await call("put_blob", { ...place, content: "one" });
      const { backup_key, sha256 } = await call("put_blob", { ...place, content: "two" });
      await call("restore_blob", { ...place, backup_key, expected_sha256: sha256 });
      expect(await call("get_blob", place)).toMatchObject({ content: "one" });
      expect((await call("list_blobs", { container: "notes" }))["next_cursor"]).toBeNull();
      expect([...new Set(hosts)]).toEqual([`${host}:443`]);
      const sources = backend.requests.flatMap(({ headers }) => headers["x-ms-copy-source"] ?? []);
      expect(sources).toHaveLength(2);
      for (const source of sources) expect(source).toMatch(`https://${host}/notes/`);
    } finally {
      await connector.close();
    }
  }).finally(() => backend.close());
});
