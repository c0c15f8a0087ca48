// OpenStack Swift with its S3 interface, from Debian's packages: a backend as the certification of `aws` knows its sandbox.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import { freePort } from "./support.js";

const services = ["account", "container", "object", "proxy"];
const programs = [...services.map((name) => `/usr/bin/swift-${name}-server`), "/usr/bin/memcached"];

/** Why it cannot run here; undefined when it can. */
export const missingSwift = programs.every((program) => existsSync(program))
  ? undefined
  : "Swift is not installed: apt-get install --no-install-recommends swift-proxy swift-account swift-container swift-object memcached";

/** Its name and its version, as Debian's package says. */
export function versionOfSwift() {
  if (missingSwift) return "OpenStack Swift";
  const facts = execFileSync("dpkg", ["-s", "swift-proxy"], { encoding: "utf8" });
  return `OpenStack Swift ${/^Version: ([\d.]+)/m.exec(facts)?.[1]}`;
}

/** Each case works in an account of its own, whose buckets nobody else sees. */
const accounts = 3000;
const secret = "the-secret-of-every-case";
const keyOf = (index) => `${accountOf(index)}:agent`;
const accountOf = (index) => `case${String(index).padStart(5, "0")}`;

const sections = (all) =>
  Object.entries(all)
    .flatMap(([name, facts]) => [
      `[${name}]`,
      ...Object.entries(facts).map(([key, value]) => `${key} = ${value}`),
    ])
    .join("\n");

/** Writes the configuration of one server of each kind, and the rings that say where they are. */
function configure(folder, ports) {
  const common = (port) => ({
    ...{ bind_ip: "127.0.0.1", bind_port: port, workers: 0, user: userInfo().username },
    ...{ swift_dir: folder, log_level: "ERROR", log_name: "swift" },
  });
  const write = (name, all) => writeFileSync(join(folder, name), `${sections(all)}\n`);
  mkdirSync(join(folder, "devices", "one"), { recursive: true });
  write("swift.conf", {
    "swift-hash": { swift_hash_path_prefix: "a", swift_hash_path_suffix: "b" },
    "storage-policy:0": { name: "only", default: "yes" },
  });
  for (const kind of ["account", "container", "object"]) {
    const ring = (...words) => {
      try {
        execFileSync("swift-ring-builder", [`${kind}.builder`, ...words], { cwd: folder, stdio: "pipe" });
      } catch (error) {
        // 1 is a warning: a ring of one device is never balanced.
        if (error.status !== 1) throw error;
      }
    };
    ring("create", "4", "1", "1");
    ring("add", `r1z1-127.0.0.1:${ports[kind]}/one`, "1");
    ring("rebalance");
    write(`${kind}.conf`, {
      DEFAULT: { ...common(ports[kind]), devices: join(folder, "devices"), mount_check: false },
      "pipeline:main": { pipeline: `${kind}-server` },
      [`app:${kind}-server`]: { use: `egg:swift#${kind}`, replication_server: false },
    });
  }
  const filters =
    "catch_errors gatekeeper cache listing_formats bulk s3api tempauth copy slo dlo versioned_writes symlink".split(
      " ",
    );
  const users = Array.from({ length: accounts }, (_, index) => [
    `user_${accountOf(index)}_agent`,
    `${secret} .admin`,
  ]);
  const more = {
    cache: { use: "egg:swift#memcache", memcache_servers: `127.0.0.1:${ports.memcached}` },
    s3api: { use: "egg:swift#s3api", location: "us-east-1", storage_domain: "localhost" },
    tempauth: { use: "egg:swift#tempauth", ...Object.fromEntries(users) },
    versioned_writes: { use: "egg:swift#versioned_writes", allow_object_versioning: true },
  };
  write("proxy.conf", {
    DEFAULT: common(ports.proxy),
    "pipeline:main": { pipeline: [...filters, "proxy-server"].join(" ") },
    "app:proxy-server": { use: "egg:swift#proxy", account_autocreate: true },
    ...Object.fromEntries(
      filters.map((name) => [`filter:${name}`, more[name] ?? { use: `egg:swift#${name}` }]),
    ),
  });
}

const clientOf = (address, accessKeyId) =>
  new S3Client({
    ...{ endpoint: address, region: "us-east-1", forcePathStyle: true, maxAttempts: 1 },
    credentials: { accessKeyId, secretAccessKey: secret },
    // Swift does not know the checksums that are sent by default.
    ...{ requestChecksumCalculation: "WHEN_REQUIRED", responseChecksumValidation: "WHEN_REQUIRED" },
  });

/** Resolves when a bucket can be made: then the proxy has found the servers behind it. */
async function answering(sdk, children) {
  for (let attempt = 0; attempt < 600; attempt++) {
    const dead = children.find(({ exitCode }) => exitCode !== null);
    if (dead) throw new Error(`${dead.spawnargs.join(" ")} ended with ${dead.exitCode}`);
    try {
      return void (await sdk.send(new CreateBucketCommand({ Bucket: "first" })));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error("Swift takes no bucket");
}

/** Starts it; `backend()` is a fresh account with what the sandbox's world holds, as far as Swift keeps it. */
export async function swift() {
  const folder = mkdtempSync(join(tmpdir(), "reversi-swift-"));
  const ports = {};
  for (const name of [...services, "memcached"]) ports[name] = await freePort();
  configure(folder, ports);
  const start = (program, ...args) => spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const children = [
    start("memcached", "-l", "127.0.0.1", "-p", String(ports.memcached), "-u", userInfo().username),
    ...services.map((name) => start(`swift-${name}-server`, join(folder, `${name}.conf`))),
  ];
  const ended = (child) => child.exitCode ?? new Promise((resolve) => child.once("exit", resolve));
  const close = async () => {
    for (const child of children) child.kill();
    await Promise.all(children.map(ended));
    rmSync(folder, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${ports.proxy}`;
  let next = 0;
  try {
    const sdk = clientOf(address, keyOf(next++));
    await answering(sdk, children);
    sdk.destroy();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    credential: secret,
    async backend() {
      if (next === accounts) throw new Error("more cases than accounts");
      const accessKeyId = keyOf(next++);
      const sdk = clientOf(address, accessKeyId);
      await seed(sdk);
      return {
        address,
        optionsAt: (endpoint, secretAccessKey) => ({
          ...{ endpoint, accessKeyId, secretAccessKey, region: "us-east-1" },
        }),
        state: () => visibleState(sdk),
        write: (bucket, key, content) =>
          sdk.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content })),
        close: () => sdk.destroy(),
      };
    },
    close,
  };
}

/** The bucket that keeps every version. */
export const versioned = "versioned.notes";

/** What the sandbox begins with, without what Swift does not keep: tags, access lists and storage classes. */
async function seed(sdk) {
  const put = (Key, Body, more = {}) =>
    sdk.send(new PutObjectCommand({ Bucket: "notes", Key, Body, ...more }));
  for (const Bucket of ["notes", versioned]) await sdk.send(new CreateBucketCommand({ Bucket }));
  await put("todo.txt", "milk\n", {
    ContentType: "text/plain",
    CacheControl: "no-store",
    Metadata: { author: "ada" },
  });
  await put("dir/ü ñ+&=%20!*'();~.bin", Buffer.from([0, 255, 254]));
  const VersioningConfiguration = { Status: "Enabled" };
  await sdk.send(new PutBucketVersioningCommand({ Bucket: versioned, VersioningConfiguration }));
  for (const Body of ["first", "second"]) await put("plan.txt", Body, { Bucket: versioned });
}

const isBackup = (key) => key.startsWith(".reversi-backups/");

async function bucketState(sdk, Bucket) {
  const [objects, backups, versions] = [{}, [], {}];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: sdk }, { Bucket })) {
    for (const { Key } of Contents) {
      const {
        Body,
        ContentType,
        CacheControl,
        ContentLanguage,
        ContentEncoding,
        ContentDisposition,
        Metadata,
      } = await sdk.send(new GetObjectCommand({ Bucket, Key }));
      const headers = {
        ContentType,
        CacheControl,
        ContentLanguage,
        ContentEncoding,
        ContentDisposition,
        Metadata,
      };
      const object = { content: await Body.transformToString("base64"), headers };
      if (isBackup(Key)) backups.push(JSON.stringify(object));
      else objects[Key] = object;
    }
  }
  if (Bucket === versioned) {
    const { Versions = [], DeleteMarkers = [] } = await sdk.send(new ListObjectVersionsCommand({ Bucket }));
    for (const { Key } of [...Versions, ...DeleteMarkers])
      if (!isBackup(Key)) versions[Key] = (versions[Key] ?? 0) + 1;
  }
  return { objects, backups: backups.sort(), versions };
}

/** What a person would see; neither times nor the random names of backups. */
async function visibleState(sdk) {
  const state = {};
  for (const bucket of ["notes", versioned]) state[bucket] = await bucketState(sdk, bucket);
  return JSON.parse(JSON.stringify(state));
}
