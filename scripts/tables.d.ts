import type { ConnectorDefinition, Manifest } from "@reversi-connector/core";

export function filled(text: string, name: string, content: string): string;
export function toolTable(manifests: readonly Manifest[]): string;
export function expectedReadmes(
  load: (name: string) => Promise<ConnectorDefinition<object>>,
): Promise<Map<string, string>>;
export const certification: readonly string[];
export const certifiable: readonly string[];
