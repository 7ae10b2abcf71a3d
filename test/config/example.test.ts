import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { configJsonSchema, type JsonSchema } from '../../scripts/reference/configuration.ts';
import { loaded, problemsOf, VALID } from './fixtures.ts';

const example = readFileSync(new URL('../../config.example.yaml', import.meta.url), 'utf8');

/** The example with commented-out keys enabled: other comments start with a capital letter or follow a value. */
const uncommented = example.replaceAll(/^( +)# ( *)(?=[a-zA-Z][\w-]*:)(?! )/gm, '$1$2');

const ENV = {
  MONITOR_TOKEN: 'a',
  MONITOR_PASSWORD: 'b',
  MONITOR_SECRET_KEY: 'c',
  MONITOR_CLIENT_SECRET: 'd',
  MONITOR_API_KEY: 'e',
};

type Tree = { [key: string]: Tree };

describe('config.example.yaml', () => {
  it('links to the shipped dashboards with variables that they have', async () => {
    const { links } = (await loaded(example)).config;
    const urls = links
      .flatMap(({ station, resource }) => [station, resource])
      .flatMap((template) => (template ? [new URL(template)] : []));
    const shown = urls.filter(({ pathname }) => pathname.startsWith('/d/'));
    expect(shown.length).toBeGreaterThan(1);
    for (const { pathname, searchParams } of shown) {
      const dashboard = Object.values(dashboards).find(({ uid }) => pathname === `/d/${uid}`);
      const variables = dashboard?.templating?.list?.map(({ name }) => `var-${name}`);
      expect(variables).toEqual(expect.arrayContaining([...searchParams.keys()]));
    }
  });

  it('shows the default values', async () => {
    const { config } = await loaded(example);
    const bare = (await loaded(VALID)).config;
    const { authorization, ...upstream } = config.upstreams['main'] ?? {};
    expect(authorization?.type).toBe('Bearer');
    expect(upstream).toEqual(bare.upstreams['main']);
    expect(config.cache).toEqual(bare.cache);
    expect(config.metrics).toEqual(bare.metrics);
  });

  it('shows every key', () => {
    expect(missingKeys(configJsonSchema(), parse(uncommented), '')).toEqual([]);
  });

  it('shows alternatives that are valid one at a time', async () => {
    const problems = await problemsOf(uncommented, ENV);
    expect(problems).toHaveLength(9);
    expect(problems.filter((problem) => !problem.includes(': given together with '))).toEqual([]);
  });
});

/** The entries of a list or of a mapping with free names must show all keys together. */
function missingKeys(schema: JsonSchema, value: unknown, path: string): readonly string[] {
  if (value === undefined) return [path];
  const inner = schema.items ?? (schema.additionalProperties || undefined);
  const values = Object.values(value as Tree);
  if (inner?.properties !== undefined) return missingKeys(inner, Object.assign({}, ...values), `${path}.*`);
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
    missingKeys(property, (value as Tree)[key], `${path}.${key}`),
  );
}
