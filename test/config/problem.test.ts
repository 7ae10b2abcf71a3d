import { describe, expect, it } from 'vitest';
import { formatProblems } from '../../src/config/problem.ts';
import { formatPath } from '../../src/schema/config-path.ts';

const PROBLEM = { file: 'f', column: 1, path: '', message: 'broken' };

describe('formatProblems', () => {
  it.each([
    [100, 'f:100:1: broken', 100],
    [101, 'and 1 more problem', 101],
    [4000, 'and 3,900 more problems', 101],
  ])('ends %i problems with %j', (count, last, lines) => {
    const problems = Array.from({ length: count }, (_, at) => ({ ...PROBLEM, line: at + 1 }));
    const shown = formatProblems(problems);
    expect(shown.at(-1)).toBe(last);
    expect(shown).toHaveLength(lines);
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
