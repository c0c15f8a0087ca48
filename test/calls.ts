import type { Connector, ConnectorError } from "@reversi-connector/core";

type Values = Readonly<Record<string, unknown>>;

/**
 * What an engine would send to undo a call, by the manifest: the tool without the connector's name, and its arguments;
 * "" where there is none.
 */
export function undoOf({ name, manifests }: Connector, tool: string, args: object, result: object) {
  const { compensation } = manifests.find((manifest) => manifest.tool === `${name}.${tool}`) ?? {};
  const from: Values = { args, result };
  const mapped = Object.entries(compensation?.argument_map ?? {}).map(([target, source]) => {
    const [root = "", key = ""] = String(source).split(".");
    return [target, (from[root] as Values | undefined)?.[key]] as const;
  });
  return {
    tool: (compensation?.tool ?? "").slice(name.length + 1),
    args: Object.fromEntries(mapped.filter(([, value]) => value !== undefined)) as Values,
  };
}

/** What a call that must fail threw. */
export async function failure(call: Promise<unknown> | undefined): Promise<ConnectorError> {
  try {
    await call;
  } catch (error) {
    return error as ConnectorError;
  }
  throw new Error("the call succeeded");
}
