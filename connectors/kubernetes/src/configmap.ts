import { hashOf } from "@reversi-connector/core";
import type { HttpReader } from "@reversi-connector/http";
import { isForbidden, isMissing } from "./client.ts";
import { configMapPath, isObject, type KubernetesObject, type Name } from "./objects.ts";

interface Content {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}
export interface ConfigMap extends KubernetesObject, Content {}

/** Over texts and bytes; neither labels nor annotations count. */
export const hashOfContent = ({ data = {}, binaryData = {} }: Content) => hashOf({ data, binaryData });
export const inWords = ({ namespace: space, name: own }: Name) => `ConfigMap ${space}/${own}`;

export type Found = ConfigMap | "gone" | "forbidden";

/** The ConfigMap, on Kubernetes's own word where it is gone. @throws ConnectorError when nobody can tell */
export async function look(client: HttpReader, at: Name): Promise<Found> {
  try {
    const { body } = await client.read<ConfigMap>({
      path: configMapPath(at),
      expect: isObject("ConfigMap", at),
    });
    return body;
  } catch (error) {
    if (isMissing(error, "configmaps", at.name)) return "gone";
    if (isForbidden(error)) return "forbidden";
    throw error;
  }
}
