import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig, loadConfigInSteps, secretFiles, stationFilePatterns } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { renderConfig } from '../../src/config/resolve.ts';
import { codePoint } from '../code-point.ts';
import { expectProblems, loaded, problemsOf, RID, stationWith, upstreamWith } from './fixtures.ts';

describe('loadConfig', () => {
  it('fills in all defaults of the smallest configuration', () => {
    expect(loaded(`upstreams: { main: { base_url: "http://h/prefix" } }\nstations: [{ rid: ${RID} }]`).config).toEqual({
      upstreams: {
        main: {
          base_url: new URL('http://h/prefix'),
          timeout: 10_000,
          refresh_timeout: 120_000,
          concurrency: 8,
          requests_per_second: 0,
          max_retries: 2,
          page_size: 100,
          max_page_bytes: 16_777_216,
          list_style: 'repeat',
        },
      },
      stations: [{ rid: RID, filters: {}, products: [], alertability: false, cache: {}, metrics: {}, labels: {} }],
      station_files: [],
      cache: { ttl: 60_000, max_stale: 900_000, error_ttl: 10_000, refresh: 'scrape' },
      metrics: { per_resource: true, max_resources: 100_000, disabled: [] },
      limits: { label_values: 1000, changes_per_station: 1000, changes: 20_000 },
      resource_labels: [],
      links: [],
    });
  });

  it('reports six problems with their positions', () => {
    const text = `upstreams:
  main:
    base_url: https://monitor.example.com
    timout: 10s
    concurrency: many
    authorization: { credentials: abc }
    basic_auth: { username: u, password: p }
stations:
  - name: prod
    rid: ${RID}
  - name: prod
    rid: ${RID}
    upstream: other
  - subscription: sub
    resource_group: rg
    telemetry_station: ts
`;
    expectProblems(
      text,
      '4:5: upstreams.main.timout: unknown key, did you mean timeout?',
      '5:18: upstreams.main.concurrency: expected an integer from 1 to 1000, got "many"',
      '7:5: upstreams.main.basic_auth: given together with authorization, expected only one of authorization, basic_auth, hmac, oauth2',
      '11:11: stations[1].name: duplicate station name "prod", already used at conf/config.yaml:9:11',
      '13:15: stations[1].upstream: expected the name of an upstream, got "other"',
      '14:5: stations[2].zone: missing, expected together with subscription, resource_group, telemetry_station',
    );
  });

  describe('with a document that is not a configuration', () => {
    const expected = 'expected a mapping with the keys upstreams and stations';

    it.each([
      ['', `1:1: the file is empty, ${expected}`],
      ['# only a comment\n', `1:1: the file is empty, ${expected}`],
      ['\n~', `2:1: the file is empty, ${expected}`],
      ['\n- a\n', `2:1: ${expected}, got a list`],
      ['text', `1:1: ${expected}, got a string`],
      ['42', `1:1: ${expected}, got a number`],
    ])('rejects %j', (text, problem) => {
      expectProblems(text, problem);
    });

    it('reports missing required keys', () => {
      expectProblems(
        '# a comment\ncache: {}\n',
        '2:1: upstreams: missing, expected a mapping with one entry per account',
        '2:1: stations: expected at least one station, or station_files, got none',
      );
    });
  });

  describe('with invalid YAML', () => {
    it('reports syntax errors only', () => {
      expectProblems(
        'upstreams: [1\nstations:\n\t- a\npage_size: 0\n',
        '2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
        '3:1: tab as indentation, expected spaces',
      );
    });

    it('reports a misplaced token without its follow-up errors', () => {
      expectProblems(
        `upstreams: {a: $\{B}}\nstations: []\n`,
        `1:17: expected quotes around $\{NAME} inside { } and [ ]: "$\{NAME}"`,
      );
    });

    it.each([
      ['a list as a key', '? [a]\n: b\n', '1:3: expected a string as key, got a list or a mapping'],
      ['an alias without an anchor', 'upstreams: *hunter2\n', /^1:12: upstreams: alias without a preceding anchor/],
      ['an anchor after its alias', 'cache: *x\nstations: &x []\n', /^1:8: cache: alias without a preceding anchor/],
      [
        'a merge of a number',
        'cache: { <<: 5 }',
        /^1:14: cache\["<<"\]: expected a mapping to merge, or an alias of one$/,
      ],
      [
        'a merge of a list with a number',
        'cache: { <<: [{ttl: 1s}, 5] }',
        /expected a mapping to merge, or an alias of one$/,
      ],
    ])('reports %s', (_, text, problem) => {
      expectProblems(text, problem);
    });

    it.each(['['.repeat(20_000), '- '.repeat(20_000), '{a: '.repeat(5_000), '? '.repeat(5_000)])(
      'rejects unbounded nesting: %#',
      (text) => {
        expectProblems(text, /^1:\d+: expected at most 64 nested levels$/);
      },
    );

    it('rejects aliases that expand exponentially', () => {
      const levels = 'abcdefgh'.split('').map((name, index, all) => {
        const inner = index === 0 ? 'x' : `*${all[index - 1]}`;
        return `${name}: &${name} [${Array(9).fill(inner)}]\n`;
      });
      expectProblems(
        levels.join(''),
        /^\d:\d+: g\[\d\]: aliases expand to more than 1,000,000 values, expected fewer$/,
      );
    });

    it('rejects aliases that nest without bound', () => {
      const levels = Array.from(
        { length: 100 },
        (_, level) => `a${level}: &a${level} [${level === 0 ? 'x' : `*a${level - 1}`}]\n`,
      );
      expect(problemsOf(levels.join(''))[0]).toBe(
        '1:10: a63[0]: aliases expand to more than 64 nested levels, expected fewer',
      );
    });

    it('rejects a list that contains itself', () => {
      expectProblems(
        'stations: &x [*x, *x]',
        '1:14: stations[0]: aliases expand to more than 64 nested levels, expected fewer',
      );
    });

    it('reports every alias without an anchor', () => {
      expectProblems(
        'upstreams: *a\nstations: [*b]\n',
        /^1:12: upstreams: alias without/,
        /^2:12: stations\[0\]: alias without/,
      );
    });
  });

  describe('with unusual but valid YAML', () => {
    it('reports a duplicate key together with other problems', () => {
      expectProblems(
        upstreamWith('timeout: 1s', 'page_size: 0', 'timeout: 2s'),
        '5:16: upstreams.main.page_size: expected an integer from 1 to 10000, got 0',
        '6:5: upstreams.main.timeout: duplicate key, expected only once',
      );
    });

    it('validates the last value of a duplicate key', () => {
      expectProblems(
        upstreamWith('page_size: 1', 'page_size: 0'),
        '5:5: upstreams.main.page_size: duplicate key, expected only once',
        '5:16: upstreams.main.page_size: expected an integer from 1 to 10000, got 0',
      );
    });

    it('reports a second document and validates the first', () => {
      expectProblems(
        `${upstreamWith('page_size: 0')}---\na: 1\n`,
        '4:16: upstreams.main.page_size: expected an integer from 1 to 10000, got 0',
        '7:1: second document, expected only one',
      );
    });

    it.each([
      ['an unknown tag', 'list_style: !hunter2 repeat', /^4:17: unknown tag/],
      ['a tag of another kind', 'authorization: { credentials: !!binary aHVudGVyMg== }', /^4:35: unknown tag/],
      ['an unknown escape', 'authorization: { credentials: "hunter2\\q" }', /^4:\d+: invalid escape sequence/],
      [
        'a reserved character',
        'authorization: { credentials: "a", type: @hunter2 }',
        /^4:46: value starts with a reserved character/,
      ],
    ])('reports %s without quoting the secret', (_, line, problem) => {
      const problems = problemsOf(upstreamWith(line));
      expect(problems[0]).toMatch(problem);
      expect(problems.join()).not.toContain('hunter2');
    });

    it('reports an unknown directive', () => {
      expectProblems(`%HUNTER2 x\n---\n${upstreamWith()}`, '1:1: unknown directive, expected none');
    });

    it('accepts a closing brace without indentation', () => {
      expect(problemsOf(`upstreams: {\n  main: { base_url: "http://h" }\n}\nstations: [{ rid: ${RID} }]`)).toEqual([]);
    });

    it('rejects the key __proto__', () => {
      expectProblems(
        stationWith(`rid: ${RID}`, 'labels: { a: b, __proto__: c }'),
        '5:21: stations[0].labels.__proto__: reserved key, expected another one',
      );
    });

    it('resolves aliases and merge keys', () => {
      const { config } = loaded(`
upstreams:
  one: &one { base_url: "http://one", page_size: 7, timeout: 1s }
  two: { <<: *one, base_url: "http://two" }
  three: { <<: [{ page_size: 9 }, *one], max_retries: 0 }
stations:
  - { upstream: two, rid: ${RID}, cache: &cache { ttl: 1s } }
  - { upstream: one, name: other, rid: ${RID}, cache: *cache }
`);
      expect(config.upstreams['two']).toMatchObject({ base_url: new URL('http://two'), page_size: 7 });
      expect(config.upstreams['three']).toMatchObject({
        base_url: new URL('http://one'),
        page_size: 9,
        max_retries: 0,
      });
      expect(config.stations.map(({ cache }) => cache.ttl)).toEqual([1000, 1000]);
    });

    it('expands 2,000 aliases and merges of the same anchors', () => {
      const stations = Array.from(
        { length: 2000 },
        (_, index) => `  - { <<: *station, name: s${index}, labels: *labels }\n`,
      );
      const { config } = loaded(`upstreams: { main: { base_url: "http://h" } }
stations:
  - &station { rid: ${RID}, cache: { ttl: 5s }, labels: &labels { team: a } }
${stations.join('')}`);
      expect(config.stations).toHaveLength(2001);
      expect(config.stations[2000]).toMatchObject({
        name: 's1999',
        rid: RID,
        cache: { ttl: 5000 },
        labels: { team: 'a' },
      });
    });

    it('resolves an alias to the last preceding anchor of its name', () => {
      const { config } = loaded(`upstreams: { main: { base_url: "http://h" } }
stations:
  - { rid: ${RID}, labels: &x { a: &x inner, b: *x } }
  - { rid: ${RID}, name: &x second, labels: { c: *x } }
`);
      expect(config.stations.map(({ labels }) => labels)).toEqual([{ a: 'inner', b: 'inner' }, { c: 'second' }]);
    });

    it('resolves an alias of a key', () => {
      const { config } = loaded(
        `upstreams: { &name main: { base_url: "http://h" } }\nstations: [{ upstream: *name, rid: ${RID} }]`,
      );
      expect(config.stations[0]?.upstream).toBe('main');
    });

    it('takes a mapping that merges itself as it is', () => {
      expect(loaded(`${upstreamWith()}cache: &x { <<: *x, ttl: 5s }`).config.cache.ttl).toBe(5000);
    });

    it('treats a quoted merge key as an ordinary key', () => {
      expect(problemsOf('"<<": { a: 1 }\nupstreams: 1\nstations: 1')[0]).toMatch(/^1:1: \["<<"\]: unknown key/);
    });

    it('locates a problem of a merged or aliased value at its definition, and a missing key at its mapping', () => {
      const text = `
upstreams:
  one: &one { page_size: 0, base_url: "http://one" }
  two: { <<: [{ timeout: 1s }, *one] }
  three: { <<: *one }
  four: &four
    timeout: 1s
  five: *four
stations:
  - { upstream: one, rid: ${RID} }
`;
      const pageSize = 'expected an integer from 1 to 10000, got 0';
      expectProblems(
        text,
        `3:26: upstreams.one.page_size: ${pageSize}`,
        `3:26: upstreams.two.page_size: ${pageSize}`,
        `3:26: upstreams.three.page_size: ${pageSize}`,
        '7:5: upstreams.four.base_url: missing, expected an http or https URL',
        '7:5: upstreams.five.base_url: missing, expected an http or https URL',
      );
    });
  });

  describe('with environment variables', () => {
    const reference = (name: string) => `$\{${name}}`;

    it('substitutes variables in values at any depth', () => {
      const text = upstreamWith(
        `timeout: ${reference('T')}`,
        'authorization:',
        `  credentials: ${reference('TOKEN')}`,
        `http_headers: { X-A: { values: ["a${reference('B')}c", "$${reference('B')}"] } }`,
      );
      const { config, raw } = loaded(text, { T: '3s', TOKEN: 'hunter2', B: 'b' });
      expect(config.upstreams['main']?.timeout).toBe(3000);
      expect(config.upstreams['main']?.authorization?.credentials?.reveal()).toBe('hunter2');
      expect(config.upstreams['main']?.http_headers).toEqual({ 'X-A': { values: ['abc', reference('B')] } });
      expect(raw).toMatchObject({ upstreams: { main: { timeout: '3s', authorization: { credentials: 'hunter2' } } } });
    });

    it('keeps a substituted value a string and does not substitute again', () => {
      expect(problemsOf(upstreamWith(`max_retries: ${reference('N')}`), { N: '3' })).toEqual([
        '4:18: upstreams.main.max_retries: expected an integer from 0 to 20, got "3"',
      ]);
      const { config } = loaded(stationWith(`name: ${reference('N')}`, `rid: ${RID}`), { N: `${reference('M')}: [` });
      expect(config.stations[0]?.name).toBe(`${reference('M')}: [`);
    });

    it('does not substitute variables in keys', () => {
      expect(
        loaded(`upstreams: { "${reference('N')}": { base_url: "http://h" } }\nstations: [{ rid: ${RID} }]`, {}).config
          .upstreams,
      ).toHaveProperty([reference('N')]);
    });

    it('reports each unset variable once, together with other problems', () => {
      expect(
        problemsOf(upstreamWith(`timeout: ${reference('A')}`, `base_url: ${reference('B')}`, 'page_size: 0')),
      ).toEqual([
        '4:14: upstreams.main.timeout: environment variable A is not set',
        '5:5: upstreams.main.base_url: duplicate key, expected only once',
        '5:15: upstreams.main.base_url: environment variable B is not set',
        '6:16: upstreams.main.page_size: expected an integer from 1 to 10000, got 0',
      ]);
    });
  });

  it('resolves relative paths against the directory of the configuration file', () => {
    const text = upstreamWith(
      'authorization: { credentials_file: token }',
      'http_headers: { X-A: { files: [a, /abs/b], values: [v] } }',
      'tls_config: { ca_file: ../ca.pem, cert_file: /abs/cert, key_file: key, server_name: name }',
    );
    expect(loaded(text).config.upstreams['main']).toMatchObject({
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
    ['authorization: { credentials: a,2,2 }', '4:39: upstreams.main.authorization: duplicate key, expected only once'],
  ])('does not show a part of a secret as a key: %s', (line, problem) => {
    expect(problemsOf(upstreamWith(line))).toContainEqual(
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    );
    expect(problemsOf(upstreamWith(line)).join()).not.toMatch(/[ .]2[: ]|hunter/);
  });

  it('locates each of 1,000 problems in the order of the file', () => {
    const stations = Array.from(
      { length: 1000 },
      (_, index) => `  - name: s${index}\n    rid: ${RID}\n    alertabilty: true\n`,
    );
    expect(problemsOf(`upstreams: { main: { base_url: "http://h" } }\nstations:\n${stations.join('')}`)).toEqual(
      stations.map(
        (_, index) => `${3 * index + 5}:5: stations[${index}].alertabilty: unknown key, did you mean alertability?`,
      ),
    );
  });

  it('never shows a misplaced secret in a problem', () => {
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
    fc.assert(
      fc.property(
        key,
        separator,
        before,
        secret,
        after,
        end,
        url,
        ([outer = '', inner = ''], colon, left, hidden, right, rest, address) => {
          const text = upstreamWith(
            `${outer}:`,
            `  ${inner}${colon}${left}${hidden}${right}${rest}`,
            address.replace('SECRET', hidden),
          );
          const result = loadConfig({ file: 'f', text, env: {} });
          const shown = result.ok ? renderConfig(result.config) : result.problems.map(formatProblem).join('\n');
          expect(shown).not.toContain(hidden);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('never throws for arbitrary text', () => {
    const words = [
      'upstreams',
      'stations',
      'main',
      'base_url',
      'rid',
      'http://h',
      '0',
      '1s',
      `$\{A}`,
      '$',
      '\u2028',
      '\ud800',
    ];
    const signs = [
      ': ',
      ':\n  ',
      '- ',
      '\n',
      '\n  ',
      '&a ',
      '*a',
      '<<',
      ...'{}[],"\'!#?|>%@~&* \t',
      '---\n',
      '...\n',
      '\r\n',
      '\ufeff',
    ];
    const piece = fc.constantFrom(...words, ...signs);
    const text = fc.oneof(
      fc.string({ unit: codePoint }),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (any) => {
        const result = loadConfig({ file: 'f', text: any, env: { A: 'a' } });
        return result.ok || result.problems.every(({ line, column }) => line >= 1 && column >= 1);
      }),
      { numRuns: 100 },
    );
  });
});

describe('loadConfigInSteps', () => {
  it('returns what loadConfig returns, and lets other work in meanwhile', async () => {
    const stations = Array.from({ length: 1000 }, (_, index) => `  - { name: s${index}, rid: ${RID} }\n`);
    const source = {
      file: 'f',
      text: `upstreams: { main: { base_url: "http://h" } }\nstations:\n${stations.join('')}`,
      env: {},
    };
    let iterations = 0;
    let immediate = setImmediate(function count() {
      iterations += 1;
      immediate = setImmediate(count);
    });
    const result = await loadConfigInSteps(source);
    clearImmediate(immediate);
    expect(result).toEqual({ ...loadConfig(source), securityWarnings: [expect.stringContaining('no credentials')] });
    expect(iterations).toBeGreaterThan(8);
  });

  it('returns the problems of an invalid configuration', async () => {
    const source = { file: 'f', text: 'upstreams: 1', env: {} };
    expect(await loadConfigInSteps(source)).toEqual(loadConfig(source));
  });
});

describe('secretFiles', () => {
  it('are found in a configuration that is otherwise invalid, relative to its directory', () => {
    const upstream = { authorization: { credentials_file: 'token' }, tls_config: { ca_file: '/ca.pem' }, timeout: [] };
    expect(secretFiles('/etc/exporter/config.yaml', { upstreams: { main: upstream } })).toEqual([
      '/etc/exporter/token',
      '/ca.pem',
    ]);
  });

  it.each([undefined, null, 'text', [], {}])('are none in %j', (raw) => {
    expect([secretFiles('config.yaml', raw), stationFilePatterns('config.yaml', raw)]).toEqual([[], []]);
  });
});
