import { isObject } from '../../src/model/values.ts';
import { publishedSchema } from './configuration.ts';

/** The schema of the chart's values with that of the configuration: Helm loads no other file. */
export function chartSchema(schema: string): string {
  const values = JSON.parse(schema) as { readonly properties: object };
  const properties = { ...values.properties, config: chartConfigSchema() };
  return `${JSON.stringify({ ...values, properties }, null, 2)}\n`;
}

/** Without required keys: with a simulated service, or an existing Secret, the configuration is empty. */
function chartConfigSchema(): object {
  const { $schema, $id, required, anyOf, ...schema } = forHelm(publishedSchema()) as Record<string, unknown>;
  return schema;
}

/**
 * The schema without what only editors show, and without the expressions that Helm cannot compile: RE2 has no lookahead.
 * A mapping of `properties` may have keys of these names.
 */
function forHelm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forHelm);
  if (!isObject(schema)) return schema;
  const { title, description, default: _, properties, ...rest } = schema;
  const kept = Object.entries(rest)
    .filter(([key, value]) => !(key === 'pattern' && /\(\?[=!]/.test(String(value))))
    .map(([key, value]) => [key, forHelm(value)] as const);
  if (!isObject(properties)) return Object.fromEntries(kept);
  const inner = Object.entries(properties).map(([key, value]) => [key, forHelm(value)] as const);
  return { ...Object.fromEntries(kept), properties: Object.fromEntries(inner) };
}
