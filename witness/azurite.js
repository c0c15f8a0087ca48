// Microsoft's own emulator: a backend as the connector's certification knows its sandbox.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { certificate, freePort } from "./support.js";

const program = fileURLToPath(new URL("node_modules/azurite/dist/src/blob/main.js", import.meta.url));

/** Each case works in an account of its own: `--inMemoryPersistence` keeps them apart, and forgets them at the end. */
const accounts = 2000;

/** Starts it; `backend()` is a fresh account with what the sandbox's world holds. */
export async function azurite() {
  const [port, { file, cert }] = [await freePort(), certificate()];
  // Short: all accounts go into one variable of the environment.
  const key = randomBytes(16).toString("base64");
  const names = Array.from({ length: accounts }, (_, index) => `case${String(index).padStart(5, "0")}`);
  const keyFile = file.replace("cert.pem", "key.pem");
  const flags = ["--oauth", "basic", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"];
  const child = spawn(
    process.execPath,
    [
      program,
      "--blobHost",
      "127.0.0.1",
      "--blobPort",
      String(port),
      "--cert",
      file,
      "--key",
      keyFile,
      ...flags,
    ],
    {
      env: { ...process.env, AZURITE_ACCOUNTS: names.map((name) => `${name}:${key}`).join(";") },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`azurite ended with ${code} before it listened`)));
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
      if (/successfully listen/i.test(said)) resolve();
    });
  });
  let next = 0;
  return {
    async backend() {
      const account = names[next++];
      if (account === undefined) throw new Error("more cases than accounts");
      const address = `https://127.0.0.1:${port}/${account}`;
      const service = new BlobServiceClient(address, new StorageSharedKeyCredential(account, key));
      await seed(service);
      return {
        ...{ address, ca: cert },
        // In front of it the address is another one, the account's path the same.
        optionsAt: (endpoint, token) => ({
          ...{ account, token, ca: cert },
          endpoint: `${new URL(endpoint).origin}/${account}`,
        }),
        state: () => visibleState(service),
        write: (container, blob, content) =>
          service.getContainerClient(container).getBlockBlobClient(blob).upload(content, content.length),
        async close() {
          for await (const { name } of service.listContainers()) await service.deleteContainer(name);
        },
      };
    },
    close: () =>
      new Promise((resolve) => {
        child.removeAllListeners("exit");
        child.once("exit", resolve).kill();
      }),
  };
}

/** What the sandbox begins with. */
async function seed(service) {
  const put = (container, name, content, options = {}) =>
    service.getContainerClient(container).getBlockBlobClient(name).upload(content, content.length, options);
  for (const name of ["notes", "$web"]) await service.createContainer(name);
  await put("notes", "todo.txt", "milk\n", {
    blobHTTPHeaders: { blobContentType: "text/plain", blobCacheControl: "no-store" },
    metadata: { Author: "ada" },
  });
  await put("notes", "dir/ü ñ+&=%20!*'();~.bin", Buffer.from([0, 255, 254]));
  await put("notes", "public/index.html", "<p>Hello</p>", {
    blobHTTPHeaders: { blobContentType: "text/html", blobContentLanguage: "en" },
    tags: { team: "web" },
    tier: "Cool",
  });
  // Of what is committed in blocks nobody keeps an MD5.
  const plan = service.getContainerClient("notes").getBlockBlobClient("plan.txt");
  const block = Buffer.from("block-1").toString("base64");
  await plan.stageBlock(block, "in blocks", 9);
  await plan.commitBlockList([block]);
  await put("$web", "index.html", "<p>Hi</p>", { blobHTTPHeaders: { blobContentType: "text/html" } });
}

async function seen(container, { name, properties, metadata, tags }) {
  const { contentType, cacheControl, contentLanguage, contentEncoding, contentDisposition } = properties;
  const { accessTier, accessTierInferred, blobType } = properties;
  const content = await container.getBlobClient(name).downloadToBuffer();
  return {
    content: content.toString("base64"),
    headers: { contentType, cacheControl, contentLanguage, contentEncoding, contentDisposition },
    metadata: metadata || {}, // "" where the list says `<Metadata />`
    ...{ tags: tags ?? {}, type: blobType, tier: accessTierInferred ? "default" : accessTier },
  };
}

/** What a person would see; neither times nor the random names of backups. */
async function visibleState(service) {
  const state = {};
  for await (const { name } of service.listContainers()) {
    const container = service.getContainerClient(name);
    const blobs = {};
    const backups = [];
    for await (const item of container.listBlobsFlat({ includeMetadata: true, includeTags: true })) {
      const blob = await seen(container, item);
      if (item.name.startsWith(".reversi-backups/")) backups.push(JSON.stringify(blob));
      else blobs[item.name] = blob;
    }
    state[name] = { blobs, backups: backups.sort() };
  }
  return JSON.parse(JSON.stringify(state));
}
