import { describe, expect, it } from 'vitest';
import { formatPath, formatProblem } from '../../src/config/problem.ts';

describe('formatProblem', () => {
  const place = { file: 'config.yaml', line: 3, column: 7 };

  it('prints file:line:column, path and message', () => {
    expect(formatProblem({ ...place, path: 'cache.ttl', message: 'missing' })).toBe('config.yaml:3:7: cache.ttl: missing');
  });

  it('omits an empty path', () => {
    expect(formatProblem({ ...place, path: '', message: 'broken' })).toBe('config.yaml:3:7: broken');
  });
});

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['stations', 0, 'cache', 'ttl'], 'stations[0].cache.ttl'],
    [['upstreams', 'eu.west', 'http_headers', 'X-Key'], 'upstreams["eu.west"].http_headers.X-Key'],
    [['a b', ''], '["a b"][""]'],
    [['a', 'x\ny'], 'a["x\\ny"]'],
    [['a', 'password:hunter2\nmore'], 'a["password:…"]'],
  ])('prints %j as %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});
