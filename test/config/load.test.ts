import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { renderConfig } from '../../src/config/resolve.ts';
import { expectProblems, loaded, problemsOf, RID, stationWith, upstreamWith, VALID } from './fixtures.ts';

const EXPANDED = '1:1: aliases repeat their values to more than 500000 in all, expected fewer';

/** Each line repeats the one before twice. */
const doubledBy = (value: (alias: string) => string) =>
  Array.from({ length: 60 }, (_, at) => `a${at}: &a${at} ${at === 0 ? '{ x: 1 }' : value(`*a${at - 1}`)}\n`).join('');

const UNQUOTED = `expected quotes around $\{NAME} inside { } and [ ]: "$\{NAME}"`;

describe('loadConfig', () => {
  it('reports an invalid proxy of the environment where the configuration asks for it, without its value', async () => {
    const text = `${upstreamWith('proxy_from_environment: true')}`;
    expect(await problemsOf(text, { HTTPS_PROXY: 'socks5://u:hunter2@p:1' })).toEqual([
      expect.stringMatching(/upstreams\.main\.proxy_from_environment: HTTPS_PROXY: must begin with http/),
    ]);
    expect(await problemsOf(text, { HTTPS_PROXY: 'p:3128' })).toEqual([]);
  });

  describe('with invalid YAML', () => {
    it.each<[text: string, ...problems: (string | RegExp)[]]>([
      [
        'upstreams: [1\nstations:\n\t- a\npage_size: 0\n',
        '2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
        '3:1: tab as indentation, expected spaces',
      ],
      // Without the errors that follow from it.
      [`upstreams: {a: $\{B}}\nstations: []\n`, `1:17: ${UNQUOTED}`],
      [`${VALID}station_files: [a, $\{FOLDER}/*.yaml]\n`, `6:21: ${UNQUOTED}`],
      [VALID.replace('upstreams:', 'upstreams'), '1:1: expected "key: value"; check the colon and the indentation'],
      [
        VALID.replace('stations:', '      timeout: 1s\nstations:'),
        '3:15: second ": " in one line, or a wrong indentation; quote a value that contains ": "',
      ],
      [VALID.replace('https://monitor.example.com', '"https://h'), '6:1: missing closing double quote'],
      ['? [a]\n: b\n', '1:3: expected a string as key, got a list or a mapping'],
      ['cache: *x\nstations: &x []\n', /^1:8: cache: alias without a preceding anchor/],
      [
        'upstreams: *hunter2\nstations: [*b]\n',
        '1:12: upstreams: alias without a preceding anchor, expected a value; quote a string that starts with an asterisk',
        /^2:12: stations\[0\]: alias without/,
      ],
      ['cache: { <<: 5 }', '1:1: expected a mapping, or an alias of one, after <<'],
      // An alias inside the value that it repeats.
      ['cache: &x { <<: *x }', /^1:17: cache\["<<"\]: alias without a preceding anchor/],
      [doubledBy((alias) => `[${alias}, ${alias}]`), EXPANDED],
      [doubledBy((alias) => `{ b: ${alias}, c: ${alias} }`), EXPANDED],
      [doubledBy((alias) => `{ <<: [${alias}, ${alias}] }`), EXPANDED],
    ])('reports the problems of %j and nothing else', expectProblems);
  });

  describe('with unusual but valid YAML', () => {
    it.each<[text: string, ...problems: string[]]>([
      [
        upstreamWith('timeout: 1s', 'page_size: 1', 'timeout: 2s', 'page_size: 0'),
        '6:5: duplicate key, expected only once',
        '7:5: duplicate key, expected only once',
        // The last one counts.
        '7:16: upstreams.main.page_size: expected an integer from 1 to 10000, got 0',
      ],
      [
        `${upstreamWith('page_size: 0')}---\na: 1\n`,
        '4:16: upstreams.main.page_size: expected an integer from 1 to 10000, got 0',
        '7:1: second document, expected only one',
      ],
      [`%HUNTER2 x\n---\n${VALID}`, '1:1: unknown directive, expected none'],
      [
        stationWith('name: @team', `rid: ${RID}`),
        '4:11: value starts with a reserved character, expected quotes around it',
      ],
      [
        `"<<": { a: 1 }\n${VALID}`,
        '1:1: ["<<"]: unknown key, expected one of upstreams, stations, station_files, cache, metrics, limits, resource_labels, coverage, states, links',
      ],
      // Values that are merged or aliased are where they are defined; a missing key is where its mapping is.
      [
        `upstreams:
  one: &one { page_size: 0, base_url: "http://one" }
  two: { <<: [{ timeout: 1s }, *one] }
  three: { <<: *one }
  four: &four
    timeout: 1s
  five: *four
stations:
  - { upstream: one, rid: ${RID} }
`,
        '2:26: upstreams.one.page_size: expected an integer from 1 to 10000, got 0',
        '2:26: upstreams.two.page_size: expected an integer from 1 to 10000, got 0',
        '2:26: upstreams.three.page_size: expected an integer from 1 to 10000, got 0',
        '6:5: upstreams.four.base_url: missing, expected an http or https URL',
        '6:5: upstreams.five.base_url: missing, expected an http or https URL',
      ],
    ])('reports the problems of %j with all others', expectProblems);

    it.each([
      ['an unknown tag', 'list_style: !hunter2 repeat', /^4:17: unknown tag/],
      ['a tag of another kind', 'authorization: { credentials: !!binary aHVudGVyMg== }', /^4:35: unknown tag/],
      ['an unknown escape', 'authorization: { credentials: "hunter2\\q" }', /^4:\d+: invalid escape sequence/],
      [
        'a reserved character',
        'authorization: { credentials: "a", type: @hunter2 }',
        /^4:46: value starts with a reserved character/,
      ],
    ])('reports %s without quoting the secret', async (_, line, problem) => {
      const problems = await problemsOf(upstreamWith(line));
      expect(problems[0]).toMatch(problem);
      expect(problems.join()).not.toContain('hunter2');
    });

    it('accepts a closing brace without indentation', async () => {
      expect(
        await problemsOf(`upstreams: {\n  main: { base_url: "http://h" }\n}\nstations: [{ rid: ${RID} }]`),
      ).toEqual([]);
    });

    it('resolves aliases, to the last preceding anchor of their name, and merge keys', async () => {
      const { config } = await loaded(`
upstreams:
  &name one: &one { base_url: "http://one", page_size: 7, timeout: 1s }
  two: { <<: *one, base_url: "http://two" }
  three: { <<: [{ page_size: 9 }, *one], max_retries: 0 }
stations:
  - { upstream: *name, rid: ${RID}, cache: &cache { ttl: 1s }, labels: &x { a: &x inner, b: *x } }
  - { upstream: two, name: &x second, rid: ${RID}, cache: *cache, labels: { c: *x } }
`);
      expect(config.upstreams['two']).toMatchObject({ base_url: new URL('http://two'), page_size: 7 });
      expect(config.upstreams['three']).toMatchObject({
        base_url: new URL('http://one'),
        page_size: 9,
        max_retries: 0,
      });
      expect(config.stations).toMatchObject([
        { upstream: 'one', cache: { ttl: 1000 }, labels: { a: 'inner', b: 'inner' } },
        { upstream: 'two', cache: { ttl: 1000 }, labels: { c: 'second' } },
      ]);
    });
  });

  it('substitutes variables in values at any depth, as strings, and not in keys', async () => {
    const text = upstreamWith(
      `authorization: { credentials: "$\{TOKEN}" }`,
      `http_headers: { X-A: { values: ["a$\{B}c", "$$\{B}"] } }`,
    );
    const { config } = await loaded(text.replaceAll('main', `"$\{N}"`), { TOKEN: 'hunter2: [', B: 'b' });
    const upstream = config.upstreams[`$\{N}`];
    expect(upstream).toMatchObject({ http_headers: { 'X-A': { values: ['abc', `$\{B}`] } } });
    expect(upstream?.authorization?.credentials?.reveal()).toBe('hunter2: [');
    expect(await problemsOf(upstreamWith(`max_retries: $\{N}`), { N: '3' })).toEqual([
      '4:18: upstreams.main.max_retries: expected an integer from 0 to 20, got "3"',
    ]);
  });

  it('resolves relative paths against the directory of the configuration file', async () => {
    const text = upstreamWith(
      'authorization: { credentials_file: token }',
      'http_headers: { X-A: { files: [a, /abs/b], values: [v] } }',
      'tls_config: { ca_file: ../ca.pem, cert_file: /abs/cert, key_file: key, server_name: name }',
    );
    expect((await loaded(text)).config.upstreams['main']).toMatchObject({
      authorization: { credentials_file: 'conf/token' },
      http_headers: { 'X-A': { files: ['conf/a', '/abs/b'], values: ['v'] } },
      tls_config: { ca_file: 'ca.pem', cert_file: '/abs/cert', key_file: 'conf/key', server_name: 'name' },
    });
  });

  it.each([
    [
      'basic_auth: { username: u, password: hunter,2 }',
      '4:49: upstreams.main.basic_auth: unknown key, expected one of username, password, password_file',
    ],
    [
      'basic_auth: { username: u, password:hunter2 }',
      '4:32: upstreams.main.basic_auth: unknown key, did you mean password?',
    ],
    [
      'oauth2: { client_id: c, client_secret: s, token_url: "http://t", endpoint_params: { a: hunter,2 } }',
      /endpoint_params: expected a string, got null$/,
    ],
    ['authorization: { credentials: a,2,2 }', '4:39: duplicate key, expected only once'],
  ])('does not show a part of a secret as a key: %s', async (line, problem) => {
    const problems = await problemsOf(upstreamWith(line));
    expect(problems).toContainEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
    expect(problems.join()).not.toMatch(/[ .]2[: ]|hunter/);
  });

  it('warns of requests_per_second that is not enough for one page of each listing', async () => {
    const warnings = async (rate: number, station = '') =>
      (await loaded(upstreamWith(`requests_per_second: ${rate}`) + station)).warnings;
    const products = '    products: [product.a, product.b]\n    cache: { ttl: 1m }\n';
    expect(await warnings(0.1, products)).toEqual([]);
    expect(await warnings(0.05, products)).toEqual([]);
    expect(await warnings(0.04, products)).toEqual([
      'conf/config.yaml:4:26: upstreams.main.requests_per_second: one page per listing of 1 station needs 0.05 requests/s, expected at least as much, or a higher ttl: it takes 1 min 15 s to read them all, and longer with more pages',
    ]);
  });

  it('never shows a misplaced secret in a problem', async () => {
    const signs = ['', ' ', '\t', ...'*!&@%`{}[]()|>"\'#,?-~$\\', '!!binary ', '- ', '\\x'];
    const before = fc.constantFrom(...signs, ':');
    const after = fc.constantFrom(...signs, '\n');
    const key = fc.constantFrom(
      ['authorization', 'credentials'],
      ['basic_auth', 'password'],
      ['hmac', 'secret_access_key'],
      ['oauth2', 'client_secret'],
      ['http_headers', 'X-Key'],
      ['http_headers', 'X-Key: { secrets'],
      ['oauth2', 'endpoint_params: { a'],
    );
    const separator = fc.constantFrom(': ', ':', ' : ', ': [', ': { a: ', ':\n        - ');
    const end = fc.constantFrom('', '}', ']', ' ] }', '\n      type: [a]', '\n    timeout: x');
    const secret = fc.stringMatching(/^Zq[a-z0-9]{10}$/);
    const url = fc.constantFrom(
      'base_url: http://u:SECRET@h',
      'proxy_url: http://u:SECRET@h/x',
      'proxy_url: http://u:SECRET%@h',
      'proxy_url: http://u:SECRET@h',
    );
    await fc.assert(
      fc.asyncProperty(fc.tuple(key, separator, before), secret, fc.tuple(after, end), url, async (...drawn) => {
        const [[[outer, inner], colon, left], hidden, [right, rest], address] = drawn;
        const value = `  ${inner}${colon}${left}${hidden}${right}${rest}`;
        const text = upstreamWith(`${outer}:`, value, address.replace('SECRET', hidden));
        const result = await loadConfig({ file: 'f', text, env: {} });
        const shown = result.ok ? renderConfig(result.config) : result.problems.map(formatProblem).join('\n');
        expect(shown).not.toContain(hidden);
      }),
      { numRuns: 100 },
    );
  });
});
