import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { CHART_REPOSITORY, IMAGE_REPOSITORY } from '../../scripts/release/release.ts';
import { parseFlags } from '../../src/cli/parse.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { readPage, root } from '../docs/markdown.ts';
import { entriesOf } from '../e2e/test-bed.ts';
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { startSimulatedService } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';
import { createClone, removeClone, runShell } from './clone.ts';

const { text: readme, blocks: readmeBlocks } = readPage('README.md');
/** README and the guides that show commands to run in a checkout. */
const guides = ['README.md', 'docs/commands.md', 'docs/testing-alerts.md'].map(readPage);
const blocks = guides.flatMap((page) => page.blocks);
const spans = guides.flatMap((page) => page.spans);
const snippets = blocks
  .filter(({ language }) => language !== 'yaml' && language !== '')
  .map(({ content }) => content.trim());
const yamls = readmeBlocks.filter(({ language }) => language === 'yaml').map(({ content }) => content);
const config = yamls.find((text) => text.includes('upstreams:')) ?? '';

const defaults = parseFlags([]);
const defaultPort = defaults.ok ? String(defaults.flags['web.listen-address'][0]?.port) : expect.unreachable();
const ANY_PORT = '--web.listen-address=127.0.0.1:0';

/** How to run each snippet, by its first line. */
const RUNNERS: Readonly<Record<string, (lines: readonly string[], clone: string) => Promise<void>>> = {
  'npm ci && npm start': runsTheDemo,
  'npm ci && npm test': runsTests,
  'docker compose --file deploy/compose/compose.yaml up': namesAStack,
  'npx telemetry-station-exporter --demo': namesWhatIsReleased,
  'npm ci && npm run build && npm pack': packs,
  [`docker run --rm --publish ${defaultPort}:${defaultPort} ${IMAGE_REPOSITORY} --demo`]: namesWhatIsReleased,
  [`docker build --tag telemetry-station-exporter . && docker run --rm --publish ${defaultPort}:${defaultPort} telemetry-station-exporter --demo`]:
    buildsTheImage,
  [`helm install --set demo=true stations oci://${CHART_REPOSITORY}`]: namesWhatIsReleased,
  'helm install --set demo=true stations deploy/helm/telemetry-station-exporter': namesTheChart,
  'npm run build': exportsFromTheService,
  'node dist/main.js list staging --demo': listsTheDemo,
  "# declared.txt has the declared IDs, one per line, such as the output of: terraform output -json ids | jq -r '.[]'":
    isRunByThePipelineTest,
  'node dist/main.js simulate --simulate.stations=2 --simulate.resources=500 --simulate.fault=rate_limited:0.2 > simulated.yaml':
    simulates,
};

describe('README.md and the guides', () => {
  let clone = '';
  beforeAll(() => {
    clone = createClone();
  });
  afterAll(() => removeClone(clone));

  it('shows only snippets that this test runs', () => {
    expect(snippets.map(firstLine)).toEqual(Object.keys(RUNNERS));
  });

  it.each(snippets)('shows commands that work: %s', async (snippet) => {
    const run = RUNNERS[firstLine(snippet)] ?? expect.unreachable(`no runner for ${snippet}`);
    await run(snippet.split('\n'), clone);
  });

  it.each(yamls)('shows a configuration that loads: %s', async (text) => {
    const { upstreams, scrape_configs } = parse(text);
    if (upstreams) expect(await configProblems(text)).toEqual([]);
    const served = ['/metrics', '/-/metrics', '/sd'].map((path) => `http://localhost:${defaultPort}${path}`);
    for (const job of upstreams ? [] : scrape_configs) {
      expect(job.job_name).toMatch(/^[\w-]+$/);
      expect(served).toEqual(expect.arrayContaining(scrapedUrls(job)));
      expect(scrapedUrls(job)).not.toEqual([]);
    }
  });

  it('names the Node version of package.json', () => {
    expect(readme).toContain(`Node ${packageJson.engines.node.slice(2)} or newer`);
  });

  it('shows only valid simulate flags', () => {
    const flags = spans.filter((span) => /^--simulate\..*=/.test(span));
    expect(flags).not.toEqual([]);
    expect(flags.filter((flag) => !parseFlags(['simulate', ...flag.split(' ')]).ok)).toEqual([]);
  });

  it('names only ports that the exporter or the compose stack listens on', () => {
    const published = Object.values(composeServices()).flatMap(({ ports = [] }) =>
      ports.map((port) => port.split(':').at(-2)),
    );
    expect(published).toContain(defaultPort);
    const ports = portsOf(readme + readFileSync(join(root, 'config.example.yaml'), 'utf8'));
    expect(ports).toContain(defaultPort);
    expect(ports.filter((port) => !published.includes(port))).toEqual([]);
  });
});

/** On a free port, because the default may be in use. */
async function runsTheDemo([line = '']: readonly string[], clone: string): Promise<void> {
  const demo = runShell(`${installed(line)} -- ${ANY_PORT}`, clone);
  const page = await fetch(await demo.url());
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(await page.text()).toMatch(/<h1>.*<\/h1>/);
  demo.interrupt();
  await demo.closed;
  expect(demo.output.stderr).toContain('msg="shutting down"');
}

/** Runs one file, because this test is itself part of `npm test`. */
async function runsTests([line = '']: readonly string[], clone: string): Promise<void> {
  const tests = runShell(
    `${installed(line)} --ignore-scripts -- --coverage.enabled=false test/config/units.test.ts`,
    clone,
  );
  expect(await tests.closed, tests.output.stderr).toEqual({ code: 0, signal: null });
  expect(tests.output.stdout).toMatch(/Tests .*[1-9]\d* passed/);
}

/** With README's configuration, adapted to the simulated service and a local token file. */
async function exportsFromTheService(
  [build = '', check = '', serve = '']: readonly string[],
  clone: string,
): Promise<void> {
  const service = await startSimulatedService({
    source: () => entriesOf(3),
    auth: { authorization: { credentials: 'readme' } },
  });
  onTestFinished(() => service.stop());
  writeFileSync(join(clone, 'token'), 'readme\n');
  writeFileSync(
    join(clone, 'config.yaml'),
    config.replace('https://monitor.example.com', service.url).replace('/run/secrets/token', join(clone, 'token')),
  );
  for (const line of [build, check]) {
    const { closed, output } = runShell(line, clone);
    expect(await closed, output.stdout + output.stderr).toEqual({ code: 0, signal: null });
  }
  const exporter = runShell(`${serve} ${ANY_PORT}`, clone);
  const metrics = parseExposition(await (await fetch(`${await exporter.url()}/metrics`)).text());
  expect(valuesOf(metrics, 'telemetry_station_up', 'station'), exporter.output.stderr).toEqual({ ts: 1 });
  expect(Object.values(valuesOf(metrics, 'telemetry_station_resources', 'station'))).toEqual([3]);
  exporter.interrupt();
  await exporter.closed;
  expect(exporter.output.stderr).toContain('msg="shutting down"');
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
async function simulates([line = '']: readonly string[], clone: string): Promise<void> {
  const simulation = runShell(line.replace(' > ', ' --simulate.port=0 > '), clone);
  const text = await eventually(() => {
    const printed = readFileSync(join(clone, 'simulated.yaml'), 'utf8');
    expect(printed).toMatch(/\ncache:/);
    return printed;
  });
  expect(await configProblems(text)).toEqual([]);
  expect(parse(text).stations).toHaveLength(2);
  simulation.interrupt();
  await simulation.closed;
}

/** `scripts/check-deploy.sh` checks the stack. */
async function namesAStack(): Promise<void> {
  const { image, command = [] } = composeServices()['telemetry-station-exporter'] ?? {};
  expect(image).toBe('telemetry-station-exporter');
  expect(parseFlags(command)).toMatchObject({ ok: true, flags: { demo: true } });
}

/** `scripts/check-image.sh` builds the image and runs it. */
async function buildsTheImage(): Promise<void> {
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain(`EXPOSE ${defaultPort}\n`);
}

/** `scripts/check-package.sh` installs the package and runs its command. */
async function packs([line = '']: readonly string[], clone: string): Promise<void> {
  const { closed, output } = runShell(installed(line), clone);
  expect(await closed, output.stderr).toEqual({ code: 0, signal: null });
  expect(existsSync(join(clone, `${packageJson.name}-${packageJson.version}.tgz`))).toBe(true);
  expect(Object.values(packageJson.bin).filter((file) => !existsSync(join(clone, file)))).toEqual([]);
}

/** `scripts/check-release.sh` installs from local registries what these lines install once it is published. */
async function namesWhatIsReleased([line = '']: readonly string[]): Promise<void> {
  const names = [packageJson.name, IMAGE_REPOSITORY, `oci://${CHART_REPOSITORY}`];
  expect(line.split(' ').filter((word) => names.includes(word))).toHaveLength(1);
}

/** `scripts/check-deploy.sh` renders the chart. */
/** `pipeline.test.ts` runs it against several services. */
async function isRunByThePipelineTest(lines: readonly string[]): Promise<void> {
  expect(lines).toHaveLength(4);
}

async function namesTheChart(): Promise<void> {
  const values = readFileSync(join(root, 'deploy/helm/telemetry-station-exporter/values.yaml'), 'utf8');
  expect(parse(values)).toHaveProperty('demo', false);
}

/** The line without `npm ci`, which the clone does not need. */
function installed(line: string): string {
  expect(line).toMatch(/^npm ci && npm \w/);
  return line.slice('npm ci && '.length);
}

function firstLine(snippet: string): string {
  return snippet.split('\n')[0] ?? '';
}

async function configProblems(text: string): Promise<readonly string[]> {
  const result = await loadConfig({ file: 'README.md', text, env: {} });
  return result.ok ? [] : result.problems.map(formatProblem);
}

interface ScrapeConfig {
  readonly metrics_path?: string;
  readonly static_configs?: readonly { readonly targets: readonly string[] }[];
  readonly http_sd_configs?: readonly { readonly url: string }[];
}

/** Where Prometheus scrapes, or discovers targets. */
function scrapedUrls({ metrics_path = '/metrics', static_configs = [], http_sd_configs = [] }: ScrapeConfig) {
  const targets = static_configs.flatMap((config) => config.targets);
  return [...targets.map((target) => `http://${target}${metrics_path}`), ...http_sd_configs.map(({ url }) => url)];
}

interface ComposeService {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
}

function composeServices(): Readonly<Record<string, ComposeService>> {
  return parse(readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8')).services;
}

function portsOf(text: string): (string | undefined)[] {
  return [...text.matchAll(/(?:localhost|127\.0\.0\.1):(\d+)/g)].map(([, port]) => port);
}
