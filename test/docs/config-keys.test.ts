import { describe, expect, it } from 'vitest';
import { configKeys, isConfigPath, webConfigKeys } from './config-keys.ts';

describe('isConfigPath', () => {
  it.each([
    'cache.ttl',
    'upstreams',
    'upstreams.main.tls_config.ca_file',
    'upstreams.<name>.timeout',
    'tls_config.ca_file',
    'stations[].cache.max_stale',
    'stations[0].upstream',
  ])('knows %s', (path) => {
    expect(isConfigPath(path)).toBe(true);
  });

  it.each(['cache.tll', 'ttl.cache', 'stations.cache.refresh', 'metrics.ttl', 'upstreams.main.cache'])('does not know %s', (path) => {
    expect(isConfigPath(path)).toBe(false);
  });
});

describe('configKeys and webConfigKeys', () => {
  it('hold the keys of every depth', () => {
    expect([...configKeys()]).toEqual(expect.arrayContaining(['upstreams', 'max_page_bytes', 'secret_access_key_file', 'refresh']));
    expect([...webConfigKeys()]).toEqual(expect.arrayContaining(['basic_auth_users', 'client_auth_type', 'burst']));
  });
});
