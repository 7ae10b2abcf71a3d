import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { resolveStations } from '../../src/config/resolve.ts';
import { readStationFiles } from '../../src/config/station-files.ts';
import { temporaryFile } from '../service/support/files.ts';

const HEAD = 'upstreams: { main: { base_url: "http://h" } }\n';

const rid = (name: string) => `/subscriptions/s/resourceGroups/g/zones/z/telemetryStations/${name}`;

const list = (...names: readonly string[]) => names.map((name) => `- rid: ${rid(name)}\n`).join('');

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = dirname(temporaryFile('x', ''));
  mkdirSync(join(folder, 'stations'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Loads config.yaml of that folder; in the result the paths are relative to the folder. */
async function load(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  const folder = folderOf(files);
  const result = await loadConfig({ file: join(folder, 'config.yaml'), text: `${files['config.yaml']}`, env });
  const lines = (result.ok ? result.warnings : result.problems.map(formatProblem)).map((line) =>
    line.replaceAll(`${folder}/`, ''),
  );
  return { lines, stations: result.ok ? resolveStations(result.config).map(({ name }) => name) : undefined };
}

describe('station_files', () => {
  it('adds the stations of the files after those of the configuration, each file once, in the order of patterns and names', async () => {
    const { stations, lines } = await load({
      'config.yaml': `${HEAD}stations: [{ rid: ${rid('own')} }]\nstation_files: [last.yml, stations/*.yaml, stations/*]\n`,
      'last.yml': list('one'),
      'stations/b.yaml': list('b'),
      'stations/a.yaml': list('a1', 'a2'),
      'not-matched.yaml': list('c'),
    });
    expect({ stations, lines }).toEqual({ stations: ['own', 'one', 'a1', 'a2', 'b'], lines: [] });
  });

  it('need no stations in the configuration, may be empty lists, and cause a warning when none matches', async () => {
    const config = `${HEAD}station_files: [a.yaml, b.yaml, stations/*]\n`;
    expect(await load({ 'config.yaml': config, 'a.yaml': '[]\n', 'b.yaml': list('b') })).toMatchObject({
      stations: ['b'],
      lines: ['config.yaml:2:33: station_files[2]: no file matches'],
    });
  });

  it('can contain environment variables', async () => {
    const files = { 'config.yaml': `${HEAD}station_files: ["$\{FOLDER}/*"]\n`, 'stations/a.yaml': list(`$\{NAME}`) };
    expect((await load(files, { FOLDER: 'stations', NAME: 'x' })).stations).toEqual(['x']);
    expect((await load(files, { FOLDER: 'stations' })).lines).toEqual([
      'stations/a.yaml:1:8: [0].rid: environment variable NAME is not set',
    ]);
  });

  it('are reported with all their problems, together with those of the configuration', async () => {
    const { lines } = await load({
      'config.yaml': `upstreams: { a: { base_url: "http://h" }, b: { base_url: "http://h" } }
station_files: [missing.yaml, stations/*.yaml, no/such/*]
stations: [{ name: own, upstream: a, rid: ${rid('own')} }]
cache: { refresh: background, ttl: none }
`,
      'stations/a.yaml': `- { rid: ${rid('x')}, upstream: a, zome: z }
- { rid: ${rid('x')}, upstream: c }
`,
      'stations/b.yaml': `- rid: ${rid('own')}\n`,
      'stations/c.yaml': 'stations: []\n',
      'stations/d.yaml': '',
      'stations/e.yaml': '- [1\n',
    });
    expect(lines).toEqual([
      expect.stringMatching(/^config\.yaml:2:17: station_files\[0\]: missing\.yaml cannot be read: ENOENT/),
      // Its stations are unknown.
      expect.stringMatching(/^config\.yaml:2:48: station_files\[2\]: no\/such cannot be read: ENOENT/),
      expect.stringMatching(/^config\.yaml:4:36: cache\.ttl: expected /),
      expect.stringMatching(/^stations\/a\.yaml:1:\d+: \[0\]\.zome: unknown key, did you mean zone\?/),
      'stations/a.yaml:2:10: [1].rid: duplicate station name "x", already used at stations/a.yaml:1:10, expected another `name`',
      expect.stringMatching(/^stations\/a\.yaml:2:\d+: \[1\]\.upstream: expected the name of an upstream, got "c"/),
      'stations/b.yaml:1:3: [0].upstream: missing, expected one of "a", "b", because there are several upstreams',
      'stations/b.yaml:1:8: [0].rid: duplicate station name "own", already used at config.yaml:3:20, expected another `name`',
      'stations/c.yaml:1:1: expected a list of stations, got a mapping',
      'stations/d.yaml:1:1: the file is empty, expected a list of stations',
      expect.stringMatching(/^stations\/e\.yaml:/),
    ]);
  });

  it('are not read when the configuration is not YAML', async () => {
    const { lines } = await load({ 'config.yaml': 'station_files: [missing.yaml\n' });
    expect(lines).toEqual([expect.stringMatching(/^config\.yaml:/)]);
  });

  it('are warned of when they list a telemetry station of the configuration again with the same filters', async () => {
    const { lines } = await load({
      'config.yaml': `${HEAD}station_files: [a]\nstations: [{ rid: ${rid('x')} }]\n`,
      a: `${list('y')}- { name: again, rid: ${rid('x')} }\n- { name: part, filters: { product: p }, rid: ${rid('x')} }\n`,
    });
    expect(lines).toEqual([
      'a:2:3: [1]: same telemetry station and filters as station "x", expected different filters, because its resources are counted twice',
    ]);
  });
});

describe('readStationFiles', () => {
  it('matches * anywhere in a file name, without folders and hidden files', async () => {
    const folder = folderOf({ 'a.yaml': '', 'a+b.yaml': '', '.a.yaml': '', axyaml: '' });
    mkdirSync(join(folder, 'c.yaml'));
    // As Kubernetes mounts a ConfigMap.
    symlinkSync('a.yaml', join(folder, 'link.yaml'));
    symlinkSync('stations', join(folder, '..data'));
    symlinkSync('stations', join(folder, 'folder.yaml'));
    const namesOf = async (pattern: string) =>
      (await readStationFiles([join(folder, pattern)])).map(({ file }) => file.slice(folder.length + 1));
    expect(await namesOf('*.yaml')).toEqual(['a+b.yaml', 'a.yaml', 'link.yaml']);
    expect(await namesOf('*+*')).toEqual(['a+b.yaml']);
    expect(await namesOf('.a*')).toEqual(['.a.yaml']);
    expect(await namesOf('*z*')).toEqual([]);
    expect(await namesOf('a*a.yaml')).toEqual([]);
    expect(await namesOf('*.y*l')).toEqual(['a+b.yaml', 'a.yaml', 'link.yaml']);
  });
});
