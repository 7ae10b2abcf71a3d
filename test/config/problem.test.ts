import { describe, expect, it } from 'vitest';
import { formatPath, formatProblem, formatProblems, listed } from '../../src/config/problem.ts';

describe('formatProblem', () => {
  const place = { file: 'config.yaml', line: 3, column: 7 };

  it('prints file:line:column, path and message', () => {
    expect(formatProblem({ ...place, path: 'cache.ttl', message: 'missing' })).toBe(
      'config.yaml:3:7: cache.ttl: missing',
    );
  });

  it('omits an empty path', () => {
    expect(formatProblem({ ...place, path: '', message: 'broken' })).toBe('config.yaml:3:7: broken');
  });
});

describe('formatProblems', () => {
  const problems = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      file: 'f',
      line: index + 1,
      column: 1,
      path: '',
      message: 'broken',
    }));

  it.each([
    [1, 'f:1:1: broken', 1],
    [100, 'f:100:1: broken', 100],
    [101, 'and 1 more problem', 101],
    [4000, 'and 3,900 more problems', 101],
  ])('ends %i problems with %j', (count, last, lines) => {
    const shown = formatProblems(problems(count));
    expect(shown.at(-1)).toBe(last);
    expect(shown).toHaveLength(lines);
  });
});

describe('listed', () => {
  it('quotes up to 20 names and counts the others', () => {
    expect(listed(['a', 'b'])).toBe('"a", "b"');
    expect(listed(Array(4000).fill('a'))).toBe(`${Array(20).fill('"a"').join(', ')}, and 3,980 more`);
  });
});

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['stations', 0, 'cache', 'ttl'], 'stations[0].cache.ttl'],
    [['upstreams', 'eu.west', 'http_headers', 'X-Key'], 'upstreams["eu.west"].http_headers.X-Key'],
    [['a b', ''], '["a b"][""]'],
    [['a', 'x\ny'], 'a["x\\ny"]'],
    [['a', 'k'.repeat(100)], `a["${'k'.repeat(60)}…"]`],
    [['a', 'password:hunter2\nmore'], 'a["password:…"]'],
  ])('prints %j as %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});
