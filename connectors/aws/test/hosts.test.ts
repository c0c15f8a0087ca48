import { certificateFor, everyHostAt } from "../../../test/hosts.ts";
import { aws } from "../src/index.ts";
import { keys } from "../src/sandbox/wire.ts";
import { current, sandbox } from "../src/sandbox.ts";

test("S3-17: at Amazon's own host names every request is accepted, for buckets with and without dots", async () => {
  // Like Amazon's it covers one label before the host.
  const host = "s3.eu-central-1.amazonaws.com";
  const tls = certificateFor(`DNS:${host}`, `DNS:*.${host}`);
  const backend = await sandbox({ tls });
  await everyHostAt(backend.address, async (hosts) => {
    const connector = aws({ ...keys, region: "eu-central-1", ca: tls.cert });
    const call = async (name: string, args: object) =>
      (await connector.tools[`aws.${name}`]?.(args)) as Record<string, unknown>;
    try {
      for (const bucket of ["notes", "versioned.notes"]) {
        for (const key of ["ü/ñ +&=.txt", "/leading//double/"]) {
          const place = { bucket, key };
          await call("put_object", { ...place, content: "one" });
          const { backup_key, sha256, guarded } = await call("put_object", { ...place, content: "two" });
          expect(guarded).toBe(true);
          expect(await call("get_object", place)).toMatchObject({ content: "two" });
          await call("restore_object", { ...place, backup_key, expected_sha256: sha256 });
          expect(current(backend.bucket(bucket), key)?.content.toString()).toBe("one");
        }
        const { objects } = await call("list_objects", { bucket });
        expect(objects).toEqual(
          expect.arrayContaining([expect.objectContaining({ key: "/leading//double/" })]),
        );
      }
      expect([...new Set(hosts)].sort()).toEqual([`notes.${host}:443`, `${host}:443`]);
      // Amazon is documented to hold writes to their conditions: it is not tried.
      const trials = backend.requests.filter(({ headers, status }) => headers["if-match"] && status === 404);
      expect(trials).toEqual([]);
    } finally {
      await connector.close();
    }
  }).finally(() => backend.close());
});
