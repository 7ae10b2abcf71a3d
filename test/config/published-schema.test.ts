import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { publishedSchema } from '../../scripts/reference/configuration.ts';
import { allPages } from '../docs/markdown.ts';
import { problemsOf, RID, stationWith, upstreamWith } from './fixtures.ts';
import { INEXPRESSIBLE, MISTAKES } from './mistakes.ts';

const validate = new Ajv2020({ strict: true, allErrors: true }).compile(publishedSchema());

/** The errors of the published schema, before variables are substituted. */
function errorsOf(text: string): readonly string[] {
  return validate(parse(text, { merge: true }))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const reasons = new Map(INEXPRESSIBLE);

describe('publishedSchema', () => {
  it('has an identifier and a title', () => {
    expect(publishedSchema()).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: expect.stringMatching(/^https:\/\/.*\/config\.schema\.json$/),
      title: expect.any(String),
    });
  });

  it.each(MISTAKES.filter((text) => !reasons.has(text)))('rejects what the loader rejects: %j', (text) => {
    expect(problemsOf(text)).not.toEqual([]);
    expect(errorsOf(text)).not.toEqual([]);
  });

  it.each(INEXPRESSIBLE)('leaves to the loader what JSON Schema cannot express: %j (%s)', (text) => {
    expect(problemsOf(text)).not.toEqual([]);
    expect(errorsOf(text)).toEqual([]);
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
    upstreamWith(
      'tls_config: { cert_file: c, key_file: k, min_version: TLS12 }',
      'authorization: { type: Token, credentials: "é" }',
    ),
    stationWith(
      'subscription: "a/b"',
      'resource_group: "漢 字"',
      'zone: "..."',
      'telemetry_station: "%2e"',
      'cache: { ttl: 0, max_stale: 2y }',
    ),
    stationWith(`rid: ${RID.replace('/z1/', '/.../')}`, 'products: [a, b]', 'labels: { team_2: a }'),
    `${upstreamWith()}station_files: [a/b.c/*.yaml]\ncache: { refresh: background, ttl: 10s }\nlinks: [{ name: a, station: "http://h/?{zone}" }]\n`,
  ])('accepts what the loader accepts: %j', (text) => {
    expect(problemsOf(text)).toEqual([]);
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
