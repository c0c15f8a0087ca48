import { readFileSync } from "node:fs";
import type { Contract, Exchange } from "@reversi-connector/certification-kit";
import { type Element, parseXml, textOf } from "@reversi-connector/http/xml";

interface Member {
  readonly target: string;
  readonly traits?: Readonly<Record<string, unknown>>;
}
interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, Member>>;
  readonly member?: Member;
  readonly traits?: Readonly<Record<string, unknown>>;
  readonly input?: Member;
  readonly output?: Member;
}
type Model = Readonly<Record<string, Shape>>;

const trait = (of: { readonly traits?: Readonly<Record<string, unknown>> }, name: string) =>
  of.traits?.[`smithy.api#${name}`];
const shapeAt = (model: Model, name: string): Shape => {
  const shape = model[name.includes("#") ? name : `com.amazonaws.s3#${name}`];
  return shape ?? { type: name.replace("smithy.api#", "").toLowerCase() };
};

/** The operation that a request is. */
function operationOf({ method, path, headers }: Exchange): string | undefined {
  const isObject = /^\/[^/?]+\/[^?]/.test(path);
  if (!isObject) return { GET: "ListObjectsV2", HEAD: "HeadBucket" }[method];
  if (method === "PUT") return headers["x-amz-copy-source"] === undefined ? "PutObject" : "CopyObject";
  return { GET: "GetObject", HEAD: "HeadObject", DELETE: "DeleteObject" }[method];
}

/** Headers of HTTP itself, of signatures, and of every answer: no model names them. */
const common =
  /^(?:host|connection|user-agent|accept-encoding|content-length|authorization|x-amz-date|x-amz-content-sha256|x-amz-security-token|x-amz-request-id|x-amz-id-2|server|date|x-amz-meta-.*)$/;

const namesBy = (shape: Shape, how: "httpHeader" | "httpQuery") =>
  Object.values(shape.members ?? {}).map((member) => String(trait(member, how)).toLowerCase());

/** A leaf as its shape wants it. */
function isLeaf({ type, members = {} }: Shape, text: string): boolean {
  switch (type) {
    case "boolean":
      return text === "true" || text === "false";
    case "integer":
    case "long":
      return /^-?\d+$/.test(text);
    case "timestamp":
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
    case "enum":
      return Object.values(members).some((member) => trait(member, "enumValue") === text);
    default:
      return type === "string";
  }
}

/** What does not fit a structure; its lists are repeated elements, as all of S3's here are. */
function* misfits(model: Model, shape: Shape, { name, children, text }: Element): Generator<string> {
  if (shape.type !== "structure") {
    if (children.length > 0 || !isLeaf(shape, text)) yield `<${name}> is no ${shape.type}`;
    return;
  }
  for (const child of children) {
    const member = shape.members?.[child.name];
    if (!member) yield `<${name}> has no <${child.name}>`;
    else {
      const target = shapeAt(model, member.target);
      yield* misfits(model, target.member ? shapeAt(model, target.member.target) : target, child);
    }
  }
}

function* inRequest(model: Model, operation: Shape, { path, headers }: Exchange): Generator<string> {
  const input = shapeAt(model, operation.input?.target ?? "");
  const known = namesBy(input, "httpHeader");
  for (const name of Object.keys(headers))
    if (!common.test(name) && !known.includes(name)) yield `the header ${name} is not described`;
  const { uri } = trait(operation, "http") as { readonly uri: string };
  const fixed = [...new URLSearchParams(uri.split("?")[1]).keys()];
  const queries = [...namesBy(input, "httpQuery"), ...fixed];
  for (const name of new URLSearchParams(path.split("?")[1]).keys())
    if (!queries.includes(name)) yield `the parameter ${name} is not described`;
}

function* inAnswer(model: Model, operation: Shape, { method, answer }: Exchange): Generator<string> {
  const { status, headers, body } = answer;
  const output = shapeAt(model, operation.output?.target ?? "");
  const root = parseXml(body);
  if (status >= 300) {
    const whole = root?.name === "Error" && textOf(root, "Code") && textOf(root, "Message");
    if (method !== "HEAD" && !whole) yield `answer ${status}: no <Error> with <Code> and <Message>`;
    return;
  }
  const { code } = trait(operation, "http") as { readonly code: number };
  if (status !== code) yield `answer ${status}: the status is not described`;
  const known = [...namesBy(output, "httpHeader"), "content-type"];
  for (const name of Object.keys(headers))
    if (!common.test(name) && !known.includes(name))
      yield `answer ${status}: the header ${name} is not described`;
  const payload = Object.values(output.members ?? {}).find(
    (member) => trait(member, "httpPayload") !== undefined,
  );
  const structure = payload ? shapeAt(model, payload.target) : output;
  if (structure.type !== "structure" || method === "HEAD" || body === "") return;
  if (root) yield* misfits(model, structure, root);
  else yield `answer ${status}: no XML`;
}

/** Amazon's model of S3 (Smithy, as JSON), read as far as it speaks of headers, parameters and XML. */
export function smithyContract(file: string): Contract {
  const { shapes } = JSON.parse(readFileSync(file, "utf8")) as { readonly shapes: Model };
  return {
    title: "Amazon's Smithy model of S3, 2006-03-01",
    judge(exchange) {
      const name = operationOf(exchange);
      if (name === undefined) return exchange.malformed ? [] : [`${exchange.method}: no such operation`];
      const operation = shapeAt(shapes, name);
      const found = [...inAnswer(shapes, operation, exchange)];
      if (!exchange.malformed) found.push(...inRequest(shapes, operation, exchange));
      return found.map((what) => `${name}: ${what}`);
    },
  };
}
