import * as z from 'zod';
import { configSchema } from './schema.ts';

/** As much of JSON Schema as the configuration's needs. */
export interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | false;
}

/** For editors: what the file may hold before `${VAR}` is replaced. */
export function configJsonSchema(): JsonSchema {
  return jsonSchema(configSchema);
}

/** The keys that may stand in the mapping at this path. */
export function knownKeys(path: readonly (string | number)[], schema: z.ZodType = configSchema): readonly string[] {
  let at = jsonSchema(schema);
  for (const part of path) at = at.items ?? at.properties?.[part] ?? (at.additionalProperties || {});
  return Object.keys(at.properties ?? {});
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
}
