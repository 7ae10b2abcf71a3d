import { configJsonSchema, type JsonSchema } from '../../scripts/reference/configuration.ts';
import { keySchema, knownKeys } from '../../src/config/key-schema.ts';
import { webConfigSchema } from '../../src/config/web-schema.ts';

/** Every key of the configuration file, at any depth. */
export function configKeys(): ReadonlySet<string> {
  return new Set(PATHS.flatMap((path) => path.slice(-1)));
}

/** Every key of the web configuration file, at any depth. */
export function webConfigKeys(): ReadonlySet<string> {
  const schema = keySchema(webConfigSchema);
  const outer = knownKeys(schema, []);
  return new Set([...outer, ...outer.flatMap((key) => knownKeys(schema, [key]))]);
}

/** Whether the text is a path of the configuration such as `stations[].cache.ttl`, or a part of one. */
export function isConfigPath(text: string): boolean {
  const wanted = text.replaceAll(/\[\d*\]/g, `.${ANY}`).split('.');
  const matches = (part: string, index: number, path: readonly string[]) => path[index] === ANY || path[index] === part;
  return PATHS.some((path) =>
    path.some((first, start) => first !== ANY && wanted.every((part, index) => matches(part, start + index, path))),
  );
}

/** Matches an entry of a list and a name that operators choose. */
const ANY = '*';

const PATHS = configPaths(configJsonSchema(), []);

function configPaths(schema: JsonSchema, path: readonly string[]): (readonly string[])[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
    configPaths(property, [...path, key]),
  );
  const entries = [schema.items, schema.additionalProperties].flatMap((entry) =>
    entry ? configPaths(entry, [...path, ANY]) : [],
  );
  const isKey = path.length > 0 && path.at(-1) !== ANY;
  return [...(isKey ? [path] : []), ...inner, ...entries];
}
