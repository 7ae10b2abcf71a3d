import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { CHART_REPOSITORY, IMAGE_REPOSITORY } from '../../scripts/release/release.ts';
import { parseFlags } from '../../src/cli/parse.ts';
import { readPage, root } from '../docs/markdown.ts';
import { outputOf } from '../e2e/built-program.ts';
import { entriesOf, startTestService } from '../e2e/test-bed.ts';
import { parseExposition, valuesOf } from '../exposition/parse-exposition.ts';
import { eventually } from '../web/eventually.ts';

const { blocks: readmeBlocks } = readPage('README.md');
/** README and the guides that show commands to run in a checkout. */
const guides = ['README.md', 'docs/commands.md'].map(readPage);
const blocks = guides.flatMap((page) => page.blocks);
const snippets = blocks.filter(({ language }) => language === 'sh').map(({ content }) => content.trim());
const yamls = readmeBlocks.filter(({ language }) => language === 'yaml').map(({ content }) => content);
const config = yamls.find((text) => text.includes('upstreams:')) ?? '';

const defaults = parseFlags([]);
const defaultPort = defaults.ok ? String(defaults.flags['web.listen-address'][0]?.port) : expect.unreachable();
const ANY_PORT = '--web.listen-address=127.0.0.1:0';

/** How to run a snippet, by its first line. */
const RUNNERS: Readonly<Record<string, (lines: readonly string[], clone: string) => Promise<void>>> = {
  'npm ci && npm start': runsTheDemo,
  'npm run build': exportsFromTheService,
  'mkdir -p stations': checksGeneratedStations,
  'node dist/main.js list staging --demo': listsTheDemo,
  'node dist/main.js record prod --config.file=config.yaml --output=recording.json': recordsAndReplays,
  'node dist/main.js simulate --simulate.stations=2 --simulate.resources=500 --simulate.fault=rate_limited:0.2 > simulated.yaml':
    simulates,
};

/** What runs the others, which need Docker, a cluster or a release, by their first line. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'npm ci && npm test': '.ci/run',
  'docker compose --file deploy/compose/compose.yaml up': 'scripts/check-deploy.sh',
  'npx telemetry-station-exporter --demo': 'scripts/check-release.sh',
  'npm ci && npm run build && npm pack': 'scripts/check-package.sh',
  [`docker run --rm --publish ${defaultPort}:${defaultPort} ${IMAGE_REPOSITORY} --demo`]: 'scripts/check-release.sh',
  [`docker build --tag telemetry-station-exporter . && docker run --rm --publish ${defaultPort}:${defaultPort} telemetry-station-exporter --demo`]:
    'scripts/check-image.sh',
  [`helm install --set demo=true stations oci://${CHART_REPOSITORY}`]: 'scripts/check-release.sh',
  'image=registry.example.com/telemetry-station-exporter': 'scripts/check-cluster.sh',
  'node dist/main.js check --config.file=config.yaml --prometheus.url=http://localhost:9090 --alertmanager.url=http://localhost:9093':
    'test/prometheus/live/chain.test.ts',
  'node dist/main.js drill TelemetryStationDataStale --demo --alertmanager.url=http://localhost:9093':
    'test/prometheus/live/chain.test.ts',
  "# declared.txt has the declared IDs, one per line, such as the output of: terraform output -json ids | jq -r '.[]'":
    'test/system/pipeline.test.ts',
};

describe('README.md and the guides', () => {
  let clone = '';
  beforeAll(() => {
    clone = createClone();
  });
  afterAll(() => rmSync(clone, { recursive: true }));

  it('shows only snippets that are run here or elsewhere', () => {
    expect(new Set(snippets.map(firstLine))).toEqual(new Set(Object.keys({ ...RUNNERS, ...RUN_ELSEWHERE })));
    expect(Object.values(RUN_ELSEWHERE).filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it.each(snippets.filter((snippet) => firstLine(snippet) in RUNNERS))(
    'shows commands that work: %s',
    async (snippet) => {
      await RUNNERS[firstLine(snippet)]?.(snippet.split('\n'), clone);
    },
  );
});

/** On a free port, because the default may be in use. */
async function runsTheDemo([line = '']: readonly string[], clone: string): Promise<void> {
  // The clone is already installed.
  const demo = runShell(`${line.replace('npm ci && ', '')} -- ${ANY_PORT}`, clone);
  const page = await fetch(await demo.url());
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(await page.text()).toMatch(/<h1>.*<\/h1>/);
  demo.interrupt();
  await demo.closed;
  expect(demo.output.stderr).toContain('msg="shutting down"');
}

/** With README's configuration, adapted to the simulated service and a local token file. */
async function exportsFromTheService(
  [build = '', check = '', serve = '']: readonly string[],
  clone: string,
): Promise<void> {
  await configureService(clone, config);
  for (const line of [build, check]) {
    const { closed, output } = runShell(line, clone);
    expect(await closed, output.stdout + output.stderr).toEqual({ code: 0, signal: null });
  }
  await exportsThreeResources(serve, clone);
}

/** Starts a service of three resources, and writes a configuration of README with its address and a local token file. */
async function configureService(clone: string, text: string): Promise<void> {
  const auth = { authorization: { credentials: 'readme' } };
  const { url } = await startTestService({ source: () => entriesOf(3), auth });
  const tokenFile = join(clone, 'token');
  writeFileSync(tokenFile, 'readme\n');
  const adapted = text.replace('https://monitor.example.com', url).replace('/run/secrets/token', tokenFile);
  writeFileSync(join(clone, 'config.yaml'), adapted);
}

/** Until Ctrl-C. */
async function exportsThreeResources(serve: string, clone: string): Promise<void> {
  const exporter = runShell(`${serve} ${ANY_PORT}`, clone);
  const metrics = parseExposition(await (await fetch(`${await exporter.url()}/metrics`)).text());
  expect(Object.values(valuesOf(metrics, 'telemetry_station_resources', 'station')), exporter.output.stderr).toEqual([
    3,
  ]);
  exporter.interrupt();
  await exporter.closed;
  expect(exporter.output.stderr).toContain('msg="shutting down"');
}

/** With README's configuration of two accounts, and a hundred stations of each. */
async function checksGeneratedStations(lines: readonly string[], clone: string): Promise<void> {
  const accounts = yamls.find((text) => text.includes('station_files')) ?? '';
  // Names that YAML reads as a number, a date or a mapping unless they are quoted.
  const zoneOf = (n: number) => ['z1', '01', '2026-01-02', 'a: b'][n % 4];
  const rows = Array.from({ length: 200 }, (_, n) => `${n < 100 ? 'storage' : 'web'},0,no,${zoneOf(n)},ts-${n}\n`);
  writeFileSync(join(clone, 'stations.csv'), rows.join(''));
  writeFileSync(join(clone, 'config.yaml'), accounts);
  const { closed, output } = runShell(lines.join(' && '), clone);
  expect(await closed, output.stderr).toEqual({ code: 0, signal: null });
  expect(output.stdout).toContain('config.yaml is valid, stations: 200');
}

/** Records a station of the simulated service, and exports from the replayed recording. Uses the build of an earlier snippet. */
async function recordsAndReplays(
  [record = '', replay = '', serve = '']: readonly string[],
  clone: string,
): Promise<void> {
  await configureService(clone, config.replace('- subscription', '- name: prod\n    subscription'));
  const recorder = runShell(record, clone);
  expect(await recorder.closed, recorder.output.stderr).toEqual({ code: 0, signal: null });
  const simulation = await startsSimulation(replay, clone);
  await exportsThreeResources(serve, clone);
  simulation.interrupt();
  await simulation.closed;
}

/** Uses the build of an earlier snippet. */
async function listsTheDemo(lines: readonly string[], clone: string): Promise<void> {
  for (const line of lines) {
    const { closed, output } = runShell(line, clone);
    expect(await closed, output.stderr).toEqual({ code: 0, signal: null });
    const [heading, ...rows] = (line.includes('>') ? readFileSync(join(clone, 'eips.csv'), 'utf8') : output.stdout)
      .trim()
      .split('\n');
    expect(heading).toMatch(/^(ID|resource_id|id)\b/);
    expect(rows).not.toEqual([]);
  }
}

/** On a free port, which the printed configuration names. */
async function startsSimulation(line: string, clone: string) {
  rmSync(join(clone, 'simulated.yaml'), { force: true });
  const simulation = runShell(line.replace(' > ', ' --simulate.port=0 > '), clone);
  await eventually(() => expect(readFileSync(join(clone, 'simulated.yaml'), 'utf8')).toMatch(/\ncache:/));
  return simulation;
}

async function simulates([line = '']: readonly string[], clone: string): Promise<void> {
  const simulation = await startsSimulation(line, clone);
  expect(parse(readFileSync(join(clone, 'simulated.yaml'), 'utf8')).stations).toHaveLength(2);
  simulation.interrupt();
  await simulation.closed;
}

function firstLine(snippet: string): string {
  return snippet.split('\n')[0] ?? '';
}

/** Not part of a clone. */
const NOT_CLONED = ['.git', '.tmp', 'coverage', 'dist', 'node_modules'];

/** A copy of the project right after `npm ci`. */
function createClone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  cpSync(root, folder, { recursive: true, filter: (from) => !NOT_CLONED.includes(relative(root, from)) });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs a line of shell in a folder; it is killed when the test ends. */
function runShell(command: string, folder: string) {
  // Without the variables of the test runner, which a nested runner would inherit.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const child = spawn(command, { cwd: folder, shell: true, detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const observed = outputOf(child);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) signalAll(child, 'SIGKILL');
    await observed.closed;
  });
  /** Like Ctrl-C: signals the whole process group. */
  return { ...observed, interrupt: () => signalAll(child, 'SIGINT') };
}

function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}
