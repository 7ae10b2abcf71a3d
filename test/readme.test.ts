import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { FLAGS } from '../src/cli/flags.ts';
import { parseFlags } from '../src/cli/parse.ts';
import { loadConfig } from '../src/config/load.ts';
import { formatProblem } from '../src/config/problem.ts';
import { FAMILY_NAMES } from '../src/metrics/family-names.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const readme = read('README.md');

/** The contents of the fenced blocks in one of these languages. */
function blocks(...languages: string[]): string[] {
  const fenced = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return fenced.filter(([, language = '']) => languages.includes(language)).map(([, , content = '']) => content);
}

const yamlWith = (key: string) => blocks('yaml', 'yml').filter((block) => block.includes(`${key}:`));

const shellLines = () => blocks('sh', 'bash', 'shell').flatMap((block) => block.split('\n'));

const inlineCode = (text: string) => [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

const defaults = parseFlags([]);
const defaultPort = defaults.ok ? defaults.flags['web.listen-address'][0]?.slice(1) : expect.unreachable();

const portsOf = (text: string) => [...text.matchAll(/(?:localhost|127\.0\.0\.1):(\d+)/g)].map(([, port]) => port);

interface ScrapeConfig {
  readonly job_name?: string;
  readonly static_configs?: readonly { readonly targets: readonly string[] }[];
  readonly http_sd_configs?: readonly { readonly url: string }[];
}

describe('README.md', () => {
  it('shows configurations that load', () => {
    const configs = yamlWith('upstreams');
    expect(configs).not.toEqual([]);
    for (const text of configs) {
      const result = loadConfig({ file: 'README.md', text, env: {} });
      expect(result.ok ? [] : result.problems.map(formatProblem)).toEqual([]);
    }
  });

  it('shows scrape configurations that Prometheus can work with', () => {
    const jobs = yamlWith('scrape_configs').flatMap((text) => (parse(text) as { scrape_configs: ScrapeConfig[] }).scrape_configs);
    expect(jobs).not.toEqual([]);
    for (const { job_name, static_configs = [], http_sd_configs = [] } of jobs) {
      expect(job_name).toMatch(/^[\w-]+$/);
      const urls = [
        ...static_configs.flatMap(({ targets }) => targets.map((target) => `http://${target}/metrics`)),
        ...http_sd_configs.map(({ url }) => url),
      ].map((url) => new URL(url));
      expect(urls).not.toEqual([]);
      for (const { port, pathname } of urls) {
        expect(port).toBe(defaultPort);
        expect(pathname).toMatch(/^\/(metrics|sd)$/);
      }
    }
  });

  it('names flags that exist', () => {
    const commands = shellLines().flatMap((line) => line.split(/dist\/main\.js|telemetry-station-exporter\S*/).slice(1));
    const spans = inlineCode(readme).filter((code) => code.startsWith('--'));
    const named = [...commands, ...spans].flatMap((text) => text.match(/(?<=^|\s)--[\w.-]+/g) ?? []);
    expect(named).not.toEqual([]);
    const known = FLAGS.map(({ name }) => `--${name}`);
    expect(named.filter((flag) => !known.includes(flag.replace(/^--no-/, '--')))).toEqual([]);
  });

  it('names endpoints of its own port alone, as config.example.yaml does', () => {
    expect(new Set(portsOf(readme))).toEqual(new Set([defaultPort]));
    expect(portsOf(read('config.example.yaml')).filter((port) => port !== defaultPort)).toEqual([]);
  });

  it('shows the two commands that do everything, with scripts that exist', () => {
    expect(shellLines()).toEqual(expect.arrayContaining(['npm ci && npm start', 'npm ci && npm test']));
    const texts = [...shellLines(), ...inlineCode(readme), ...inlineCode(read('CONTRIBUTING.md'))];
    const scripts = texts.flatMap((text) => [...text.matchAll(/npm (?:run (?:--\w+ )*)?([\w:]+)/g)].map(([, script = '']) => script));
    expect(scripts).toEqual(expect.arrayContaining(['start', 'test', 'build', 'lint']));
    const known = [...Object.keys(packageJson.scripts), 'ci'];
    expect(scripts.filter((script) => !known.includes(script))).toEqual([]);
  });
});

const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...documents.map((name) => `docs/${name}`)];

describe('the documents', () => {
  it.each(pages)('%s names metrics that exist', (page) => {
    const named = read(page).match(/\btelemetry_station_\w+/g) ?? [];
    const recorded = [...read('prometheus/rules.yml').matchAll(/^\s*(?:- )?record: \S*?(telemetry_station_\w+)/gm)].map(
      ([, name = '']) => name,
    );
    const known = new Set([...recorded, ...FAMILY_NAMES.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`])]);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(pages)('%s links to files that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const files = targets.filter((target) => !/^[a-z]+:|^#/.test(target)).map((target) => target.replace(/#.*/, ''));
    expect(files.filter((file) => !existsSync(join(root, dirname(page), file)))).toEqual([]);
  });

  it('are found, decision records included', () => {
    expect(pages).toEqual(expect.arrayContaining(['docs/flags.md', 'docs/metrics.md']));
    expect(pages.some((page) => page.startsWith('docs/adr/'))).toBe(true);
  });
});
