import { ConnectorError } from "@reversi-connector/core";

/** An HTTP date in RFC 3339. @throws ConnectorError */
export function timeIn(date: string | undefined): string {
  const time = Date.parse(date ?? "");
  if (Number.isNaN(time)) throw new ConnectorError("the answer lacks Last-Modified");
  return new Date(time).toISOString();
}
