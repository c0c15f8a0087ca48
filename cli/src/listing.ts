import type { JsonSchema } from "@reversi-connector/core";
import type { OfferedTool } from "./mcp.ts";

/**
 * The shape of a result alone: names, types and what is always there. Words and limits are for whoever makes a value, and
 * a list of tools is paid for in every conversation; the whole schema is in the manifest's package.
 */
export function shapeOf({
  type,
  enum: values,
  items,
  anyOf,
  properties,
  required,
  additionalProperties,
}: JsonSchema): JsonSchema {
  return {
    ...(type !== undefined && { type }),
    ...(values && { enum: values }),
    ...(items && { items: shapeOf(items) }),
    ...(anyOf && { anyOf: anyOf.map(shapeOf) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [name, shapeOf(schema)]),
      ),
    }),
    ...(required && { required }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === "object" ? shapeOf(additionalProperties) : additionalProperties,
    }),
  };
}

/** A tool as clients see it in the list. */
export const listed = ({ listedName, description, manifest }: OfferedTool) => ({
  ...description,
  name: listedName,
  outputSchema: shapeOf(description.outputSchema),
  _meta: {
    "reversi/effect": manifest.effect,
    "reversi/permission": manifest.permission,
    ...(manifest.compensation && { "reversi/compensation": manifest.compensation.tool }),
    ...(manifest.approval && { "reversi/approval": manifest.approval }),
  },
});
