import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetes } from "../src/index.ts";
import { token } from "../src/sandbox/wire.ts";
import { bench, failure, flags, idle, web } from "./bench.ts";

describe("K8-08: a token that ends", () => {
  test("between the read and the patch of one call: an error with status and reason, and nothing is patched", async () => {
    const on = await bench();
    on.meanwhile("PATCH", () => {
      on.world.tokenWorks = false;
    });
    const error = await failure(on.call("scale_deployment", { ...web, replicas: 5 }));
    expect(error).toMatchObject({
      code: "FAILED",
      status: 401,
      reason: "Unauthorized",
      mayHaveApplied: false,
    });
    expect(error.message).toContain("tokens of service accounts end after about an hour");
    expect(on.deployment().spec.replicas).toBe(3);
  });
  test("before an undo: the undo fails, and succeeds with a new token", async () => {
    const on = await bench();
    const made = await on.call("create_configmap", flags);
    on.world.tokenWorks = false;
    const { tool, args } = on.undoOf("create_configmap", flags, made);
    expect(await failure(on.call(tool, args))).toMatchObject({ code: "FAILED", status: 401 });
    await expect(on.holds(tool, args)).rejects.toMatchObject({ status: 401 });
    on.world.tokenWorks = true;
    expect(await on.call(tool, args)).toMatchObject({ already: false });
  });
  test("a right that is missing is named, with the account, and never the token", async () => {
    const on = await bench();
    on.world.rights.clear();
    const error = await failure(on.call("scale_deployment", { ...web, replicas: 5 }));
    expect(error).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(error.message).toContain("system:serviceaccount:default:agent");
    expect(error.message).not.toContain(token);
  });
});

test.each([
  { namespace: "default/../kube-system", name: "web" },
  { namespace: "prod", name: "x?dryRun=All" },
  { namespace: "A_b", name: "web" },
  { namespace: "prod", name: "a..b" },
  { namespace: "prod", name: "a".repeat(254) },
  { namespace: "prod", name: "x\n" },
  { namespace: "prod\n", name: "web" },
])("K8-09: %j is refused by every tool before anything is sent", async (where) => {
  const on = await bench();
  const more: Record<string, object> = {
    scale_deployment: { replicas: 1 },
    restore_replicas: { previous_replicas: 1 },
  };
  for (const tool of [
    "get_deployment",
    "scale_deployment",
    "restore_replicas",
    "create_configmap",
    "delete_configmap",
    "rollout_restart",
    "delete_pod",
  ]) {
    expect(await failure(on.call(tool, { ...where, ...more[tool] }))).toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
  }
  expect(on.backend.requests).toEqual([]);
});

test.each([
  ["no address", "cluster", "must be an address"],
  [
    "a name and a password in it",
    "https://admin:hunter2-hunter2@cluster.example",
    "must not hold a name or a password",
  ],
  ["a query in it", "https://cluster.example/?a=b", "must not hold a query"],
  ["plain HTTP to another machine", "http://cluster.example:6443", "must begin with https://"],
])("KUBE_API_SERVER with %s is refused by name, and not repeated", (_, apiServer, rule) => {
  const make = () => kubernetes({ apiServer, token });
  expect(make).toThrow(rule);
  expect(make).toThrow("KUBE_API_SERVER");
  expect(make).not.toThrow("hunter2");
});

test("a path in KUBE_API_SERVER goes before every request's own", async () => {
  const on = await bench();
  const behind = kubernetes({ apiServer: `${on.backend.address}/k8s/clusters/c-1`, token });
  await failure(behind.tools["kubernetes.get_deployment"]?.(idle));
  await behind.close();
  expect(on.backend.requests.at(-1)?.path).toBe(
    "/k8s/clusters/c-1/apis/apps/v1/namespaces/prod/deployments/idle",
  );
});

describe("K8-06: KUBE_CA_CERT", () => {
  const folder = mkdtempSync(join(tmpdir(), "reversi-kubernetes-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  const text = (name: string) => readFileSync(file(name), "utf8");
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });

  const authority = (name: string) =>
    openssl(
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...["-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.pem`],
    );
  const server = (name: string, issuer: string, host: string, days = 2) => {
    openssl(
      ...["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`],
    );
    writeFileSync(file(`${name}.ext`), `subjectAltName=${host}\n`);
    openssl(
      ...[
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        `${issuer}.pem`,
        "-CAkey",
        `${issuer}.key`,
        "-CAcreateserial",
      ],
      ...["-days", String(days), "-extfile", `${name}.ext`, "-out", `${name}.pem`],
    );
  };
  beforeAll(() => {
    authority("ours");
    authority("theirs");
    server("good", "ours", "IP:127.0.0.1");
    server("elsewhere", "ours", "DNS:cluster.example");
    server("expired", "ours", "IP:127.0.0.1", -1);
    writeFileSync(file("bundle.pem"), `${text("theirs.pem")}${text("ours.pem")}`.replaceAll("\n", "\r\n"));
    writeFileSync(file("empty.pem"), "no certificate\n");
    writeFileSync(file("broken.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    openssl("x509", "-in", "ours.pem", "-outform", "DER", "-out", "ours.der");
  });
  const tls = (name: string) => ({ key: text(`${name}.key`), cert: text(`${name}.pem`) });

  test.each(["ours.pem", "bundle.pem"])(
    "a real handshake with a server that %s vouches for succeeds",
    async (ca) => {
      const on = await bench({ caCert: file(ca) }, tls("good"));
      const made = await on.call("scale_deployment", { ...web, replicas: 5 });
      expect(await on.undo("scale_deployment", web, made)).toMatchObject({ already: false });
    },
  );
  test.each<[string, string, string | undefined]>([
    ["another authority", "good", "theirs.pem"],
    ["the usual authorities", "good", undefined],
    ["the right authority and another host's name", "elsewhere", "ours.pem"],
    ["the right authority and a certificate that has expired", "expired", "ours.pem"],
  ])("with %s the call is a definite error, and nothing reaches the server", async (_, certificate, ca) => {
    const on = await bench(ca === undefined ? {} : { caCert: file(ca) }, tls(certificate));
    const error = await failure(on.call("scale_deployment", { ...web, replicas: 5 }));
    expect(error).toMatchObject({ code: "FAILED", mayHaveApplied: false });
    expect(error.message).toMatch(/TLS failed/);
    expect(on.backend.requests).toEqual([]);
  });
  test.each(["missing.pem", "empty.pem", "broken.pem", "ours.der", "."])(
    "%s is refused at the start, naming the variable, and no other certificates are trusted instead",
    (name) => {
      const make = () => kubernetes({ apiServer: "https://127.0.0.1:6443", token, caCert: file(name) });
      expect(make).toThrow(/KUBE_CA_CERT.*nothing was sent/);
    },
  );
});
