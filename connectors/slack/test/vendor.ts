import { bench } from "./bench.ts";

/** Speaks to the sandbox without the connector. */
export async function vendor() {
  const on = await bench();
  const { token, baseUrl } = on.backend.options;
  const good: Record<string, string> = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json; charset=utf-8",
  };
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    changes: Record<string, string | undefined> = {},
  ) => {
    const headers = Object.entries({ ...good, ...changes }).filter(([, value]) => value !== undefined);
    const response = await fetch(`${baseUrl}/${path}`, {
      method,
      headers: headers as [string, string][],
      ...(body !== undefined && {
        body: body instanceof Uint8Array || typeof body === "string" ? body : JSON.stringify(body),
      }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: JSON.parse(await response.text()),
    };
  };
  const get = (path: string) => ask("GET", path, undefined, { "content-type": undefined });
  const post = async (path: string, body: object) => (await ask("POST", path, body)).body;
  return { ...on, ask, get, post };
}
