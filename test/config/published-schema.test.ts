import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, type JsonSchema, publishedSchema } from '../../scripts/reference/configuration.ts';
import { allPages } from '../docs/markdown.ts';
import { fleet, problemsOf, RID, stationWith, upstreamWith, withEntries } from './fixtures.ts';

const validate = new Ajv2020({ strict: true, allErrors: true }).compile(publishedSchema());

/** The errors of the published schema, before variables are substituted. */
function errorsOf(text: string): readonly string[] {
  return validate(parse(text, { merge: true }))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('publishedSchema', () => {
  it.each([
    { title: 'an unknown key', text: upstreamWith('timeut: 1s') },
    { title: 'a value of another type', text: upstreamWith('concurrency: many') },
    { title: 'a number out of range', text: upstreamWith('page_size: 0') },
    { title: 'an unknown word', text: upstreamWith('list_style: commas') },
    { title: 'a duration without a unit', text: upstreamWith('timeout: 5') },
    { title: 'a size that is none', text: upstreamWith('max_page_bytes: 1 MB') },
    { title: 'a resource ID of another form', text: stationWith(`rid: ${RID}/`) },
    { title: 'a label name of another form', text: withEntries('{ labels: { 1a: b } }') },
    { title: 'an unknown metric family', text: `${upstreamWith()}metrics: { disabled: [up] }\n` },
  ])('rejects $title', ({ text }) => {
    expect(errorsOf(text)).not.toEqual([]);
  });

  const shown = allPages().flatMap(({ file, blocks }) =>
    blocks.flatMap(({ language, content }) =>
      language === 'yaml' && /^upstreams:/m.test(content) ? [[file, content] as const] : [],
    ),
  );

  it.each([
    ...['config.example.yaml', 'deploy/kubernetes/config.yaml'].map(
      (file) => [file, readFileSync(file, 'utf8')] as const,
    ),
    ...shown,
  ])('accepts the configuration in %s', (_, text) => {
    expect(errorsOf(text)).toEqual([]);
  });

  it.each([
    upstreamWith(
      'timeout: 1h30m',
      'max_page_bytes: 1.5MiB',
      'proxy_url: http://u:p%25@h:3128',
      'hmac: { access_key_id: a, secret_access_key: s }',
    ),
    upstreamWith(
      'oauth2: { client_id: c, client_secret_file: f, token_url: "HTTPS://[::1]:8443/a@b" }',
      'http_headers: { Date: { files: [f] } }',
    ),
    stationWith(
      'subscription: "a/b"',
      'resource_group: "漢 字"',
      'zone: "..."',
      'telemetry_station: "%2e"',
      'cache: { ttl: 0, max_stale: 2y }',
    ),
    withEntries('{ match: { name: "a.*" }, labels: { a: b } }'),
    fleet(
      'stations:',
      `  - { upstream: main, rid: ${RID}, cache: { error_ttl: 0 }, filters: { resource_ids: ["a,b"] } }`,
      'cache: { ttl: 0 }',
      'metrics: { disabled: [telemetry_station_up, telemetry_station_exporter_build_info] }',
    ),
    stationWith(`rid: ${RID.replace('/z1/', '/.../')}`, 'products: [a, b]', 'labels: { team_2: a }'),
    `${upstreamWith()}station_files: [../test/config/*.yaml]\ncache: { refresh: background, ttl: 10s }\nlinks: [{ name: a, station: "http://h/?{zone}" }]\n`,
  ])('accepts what the loader accepts: %j', async (text) => {
    expect(await problemsOf(text)).toEqual([]);
    expect(errorsOf(text)).toEqual([]);
  });

  it('accepts a variable of the environment in place of any string', () => {
    const text = upstreamWith(
      ...['timeout', 'max_page_bytes', 'list_style', 'proxy_url'].map((key) => `${key}: $\{X}`),
      `hmac: { access_key_id: "$\{X}", secret_access_key: "$\{X}", signed_headers: ["$\{X}"] }`,
    );
    const variable = `$\{X}`;
    expect(errorsOf(text.replace('https://monitor.example.com', variable).replace(RID, variable))).toEqual([]);
  });
});

/** All nested schemas with their paths. */
function* walk(schema: JsonSchema, path = ''): Iterable<readonly [string, JsonSchema]> {
  yield [path, schema];
  for (const [key, inner] of Object.entries(schema.properties ?? {})) yield* walk(inner, `${path}.${key}`);
  if (schema.items) yield* walk(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* walk(schema.additionalProperties, `${path}.*`);
}

const schemas = [...walk(configJsonSchema())];

describe('configJsonSchema', () => {
  it('allows no unknown keys', () => {
    const mappings = schemas.filter(([, { properties }]) => properties !== undefined);
    expect(mappings.filter(([, { additionalProperties }]) => additionalProperties !== false)).toEqual([]);
  });
});
