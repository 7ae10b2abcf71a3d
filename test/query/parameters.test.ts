import { describe, expect, it } from 'vitest';
import { NONE, parseResourceQuery, resourceSearch } from '../../src/query/parameters.ts';
import { SORT_KEYS } from '../../src/query/selection.ts';

const parse = (text: string) => {
  const { query, problem } = parseResourceQuery(new URLSearchParams(text));
  expect(problem).toBeUndefined();
  return query;
};

describe('parseResourceQuery', () => {
  it('selects all resources in the order of the service without parameters, or with empty ones', () => {
    const everything = { selection: {}, sort: '', page: 1 };
    expect(parse('')).toEqual(everything);
    expect(parse('?search=&type=&product=&state=&alertable=&without_rules=&sort=&page=')).toEqual(everything);
    expect(parse('?chnage=')).toEqual(everything);
    expect(resourceSearch(everything)).toBe('?');
  });

  it.each(['?serach=x', '?page=1&__proto__=x'])('reports the unknown parameter of %s', (text) => {
    const { problem } = parseResourceQuery(new URLSearchParams(text));
    expect(problem).toMatch(/^Unknown parameter "(serach|__proto__)"\. Expected some of format, search, /);
  });

  it('parses every parameter, as resourceSearch writes them', () => {
    const text =
      '?search=a+b%26&type=t&product=%28none%29&state=s&alertable=no&without_rules=yes&sort=-alert_rules&page=12';
    const query = parse(text);
    expect(query).toEqual({
      selection: { search: 'a b&', type: 't', product: '', state: 's', alertable: 'no', without_rules: 'yes' },
      sort: '-alert_rules',
      page: 12,
    });
    expect(resourceSearch(query)).toBe(text);
  });

  it('parses labels of resources, and writes them again', () => {
    const parameters = new URLSearchParams([
      ['team', 'a b'],
      ['tier', NONE],
      ['other', 'x'],
      ['sort', 'name'],
    ]);
    const { query } = parseResourceQuery(parameters, ['team', 'tier', 'cost']);
    expect(query.selection).toEqual({ team: 'a b', tier: '' });
    expect(resourceSearch(query)).toBe('?team=a+b&tier=%28none%29&sort=name');
    const { problem } = parseResourceQuery(new URLSearchParams('team=a&team=b'), ['team']);
    expect(problem).toBe('Expected team at most once.');
  });

  it('ignores spaces around the text to search for', () => {
    expect(parse('?search=%20a%20b%20').selection).toEqual({ search: 'a b' });
    expect(parse('?search=%20%20').selection).toEqual({});
  });

  it.each([
    ['alertable=maybe', 'Expected alertable to be one of yes, no, unknown.'],
    ['without_rules=maybe', 'Expected without_rules to be one of yes, no, unknown.'],
    [
      'sort=toString',
      `Expected sort to be one of ${SORT_KEYS.join(', ')} or station, with a leading - for descending order.`,
    ],
    ['sort=--name', expect.stringContaining('Expected sort')],
    ['page=0', 'Expected page to be an integer of at least 1.'],
    ['page=9999999999', 'Expected page to be an integer of at least 1.'],
    ['type=a&type=b', 'Expected type at most once.'],
  ])('rejects %s with the expected values', (query, problem) => {
    expect(parseResourceQuery(new URLSearchParams(query)).problem).toEqual(problem);
  });

  it('keeps what is valid of a query, and the first of repeated parameters', () => {
    const given = new URLSearchParams('?search=a&search=b&type=t&alertable=maybe&without_rules=yes&sort=-size&page=0');
    expect(parseResourceQuery(given)).toEqual({
      query: { selection: { search: 'a', type: 't', without_rules: 'yes' }, sort: '', page: 1 },
      problem: 'Expected search at most once.',
    });
  });
});
