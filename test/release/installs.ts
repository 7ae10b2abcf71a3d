import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { assertEqual, execute, outputOf } from './execute.ts';

/** What must be installed, and how to reach the registries. */
export interface Installed {
  readonly version: string;
  readonly revision: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly work: string;
}

/** `npx` as in README, in an empty cache. */
export async function checkPackage({ version, revision, environment, work }: Installed): Promise<string> {
  const env = { ...environment, npm_config_cache: join(work, 'new-user') };
  const name = 'telemetry-station-exporter';
  // Installs it, which may take long; the demo below must be ready soon.
  const printed = await outputOf('npx', ['--yes', name, '--version'], { cwd: work, env });
  const expected = `version ${version} (revision: ${revision})`;
  if (!printed.includes(expected)) throw new Error(`npx: expected ${expected}, got ${printed}`);
  const child = spawn('npx', ['--yes', name, '--demo', '--web.listen-address=127.0.0.1:0'], {
    cwd: work,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  try {
    const series = await checkMetrics(async () => log, version, revision);
    return `npx ${name}: ${version}, its demo exports ${series} resources`;
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  }
}

/** Waits until the exporter of a log is ready, and returns the number of resources in its metrics. */
async function checkMetrics(log: () => Promise<string>, version: string, revision: string): Promise<number> {
  const port = await eventually('a port in the log', async () => /msg=listening .*port=(\d+)/.exec(await log())?.[1]);
  const url = `http://127.0.0.1:${port}`;
  await eventually('/-/ready', async () => (await fetch(`${url}/-/ready`)).ok || undefined);
  const build = `telemetry_station_exporter_build_info{version="${version}",revision="${revision}",`;
  // On a busy machine the first listings may take longer than the exporter waits for them.
  return eventually('resources in /metrics', async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    if (!metrics.includes(build)) throw new Error(`no ${build}`);
    return metrics.match(/^telemetry_station_resource_info\{/gm)?.length;
  });
}

async function eventually<Value>(what: string, read: () => Promise<Value | undefined>): Promise<Value> {
  let problem = 'nothing';
  for (let tries = 0; tries < 600; tries += 1) {
    try {
      const value = await read();
      if (value !== undefined) return value;
    } catch (error) {
      problem = (error as Error).message;
    }
    await sleep(200);
  }
  throw new Error(`expected ${what} within two minutes, got ${problem}`);
}

const podman = (...args: readonly string[]) =>
  outputOf('podman', ['--runtime=runc', '--cgroup-manager=cgroupfs', ...args]);

/** As Kubernetes would run it. */
const LOCKED = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges', '--memory=256m'],
  ...['--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096', '--no-healthcheck'],
];

export async function checkImage(
  { version, revision }: Installed,
  repository: string,
  { digest, bases }: { readonly digest: string; readonly bases: readonly string[] },
): Promise<string> {
  const image = `${repository}:${version}`;
  await podman('pull', '--quiet', '--tls-verify=false', image);
  const labels = JSON.parse(await podman('image', 'inspect', '--format', '{{json .Labels}}', image));
  const found = ['version', 'revision', 'base.digest'].map((name) => labels[`org.opencontainers.image.${name}`]);
  assertEqual('labels', found, [version, revision, bases.at(-1)?.split('@')[1]]);
  const container = await podman(
    ...['run', '--detach', '--network=host', ...LOCKED, image, '--demo', '--web.listen-address=127.0.0.1:0'],
  );
  const log = async () => (await execute('podman', ['--runtime=runc', 'logs', container])).output;
  const series = await checkMetrics(log, version, revision);
  await podman('rm', '--force', '--time=0', container);
  return `image ${digest}: ${version}, read-only and without capabilities, its demo exports ${series} resources`;
}

/** Lists, with the Node of the image, the packages that are really in it. */
const LIST_PACKAGES = `
const { readdirSync, readFileSync } = require('node:fs');
const lines = ['node ' + process.version.slice(1)];
for (const file of readdirSync('/var/lib/dpkg/status.d').filter((name) => !name.endsWith('.md5sums'))) {
  const text = readFileSync('/var/lib/dpkg/status.d/' + file, 'utf8');
  lines.push(/^Package: (.*)$/m.exec(text)[1] + ' ' + /^Version: (.*)$/m.exec(text)[1]);
}
const visit = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const path = folder + '/' + entry.name;
    if (entry.name.startsWith('@')) { visit(path); continue; }
    const { name, version } = JSON.parse(readFileSync(path + '/package.json', 'utf8'));
    lines.push(name + ' ' + version);
    try { visit(path + '/node_modules'); } catch (error) { if (error.code !== 'ENOENT') throw error; }
  }
};
visit('/app/node_modules');
console.log([...new Set(lines)].sort().join('\\n'));
`;

export async function checkSbom(assets: string, repository: string, version: string): Promise<string> {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const { packages } = JSON.parse(readFileSync(join(assets, `sbom-linux-${architecture}.spdx.json`), 'utf8')) as {
    readonly packages: readonly { readonly name: string; readonly versionInfo: string }[];
  };
  const [, ...components] = packages;
  const listed = components.map(({ name, versionInfo }) => `${name} ${versionInfo}`).toSorted();
  const image = `${repository}:${version}`;
  const options = ['--rm', '--network=none', ...LOCKED, '--entrypoint=/nodejs/bin/node'];
  const found = await podman('run', ...options, image, '-e', LIST_PACKAGES);
  assertEqual('SBOM', [...new Set(listed)], found.split('\n'));
  return `SBOM: ${listed.length} packages, those of the image`;
}

/** The annotations that a release adds for Artifact Hub: https://artifacthub.io/docs/topics/annotations/helm/ */
export async function checkArtifactHub(
  helm: string,
  chart: string,
  repository: string,
  version: string,
): Promise<string> {
  const args = ['show', 'chart', `oci://${chart}`, '--version', version, '--plain-http'];
  const { annotations } = parse(await outputOf(join(helm, 'helm'), args));
  const annotation = (name: string) => parse(annotations[`artifacthub.io/${name}`]);
  const [{ image }] = annotation('images');
  assertEqual('image, prerelease', [image, annotation('prerelease')], [`${repository}:${version}`, false]);
  return `Artifact Hub: image ${image}, ${annotation('changes').length} changes`;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
}

/**
 * Installs the chart and runs its test. The API server has no nodes: this runs the containers of the Deployment and of the test as a node
 * would, and reports the outcome. The way through the Service is not rehearsed.
 */
export async function checkChart(
  { version, work }: Installed,
  helm: string,
  chart: string,
  repository: string,
): Promise<string> {
  const env = { HELM_CACHE_HOME: join(work, 'helm'), HELM_CONFIG_HOME: join(work, 'helm') };
  const command = join(helm, 'helm');
  const release = 'rehearsal';
  await outputOf(
    command,
    [
      ...['install', release, `oci://${chart}`, '--version', version, '--plain-http'],
      ...['--set', 'demo=true', '--set', `image.repository=${repository}`],
    ],
    { env },
  );
  const [installed] = JSON.parse(await outputOf(command, ['list', '--output=json'], { env }));
  assertEqual('appVersion', installed.app_version, version);
  const selector = `--selector=app.kubernetes.io/instance=${release}`;
  const { items } = JSON.parse(await outputOf('kubectl', ['get', 'deployment', selector, '--output=json']));
  const [exporter] = items[0].spec.template.spec.containers as readonly [Container];
  assertEqual('image of the deployment', exporter.image, `${repository}:${version}`);

  const testing = execute(command, ['test', release, '--timeout=5m'], { env });
  const pod = await eventually('the pod of the test', async () => {
    const { items: pods } = JSON.parse(await outputOf('kubectl', ['get', 'pods', '--output=json']));
    return pods[0];
  });
  const [test] = pod.spec.containers as readonly [Container];
  const host = new URL(test.env?.[0]?.value ?? '').hostname;
  const id = await start(exporter, ['--detach', '--network=none']);
  const hosts = join(work, 'hosts');
  writeFileSync(hosts, `127.0.0.1 localhost ${host}\n`);
  const options = ['--rm', `--network=container:${id}`, '--no-hosts', `--volume=${hosts}:/etc/hosts:ro`];
  await eventually('a successful test', () => start(test, options));
  const status = JSON.stringify({ status: { phase: 'Succeeded' } });
  await outputOf('kubectl', ['patch', 'pod', pod.metadata.name, '--subresource=status', '--type=merge', '-p', status]);
  const { code, output } = await testing;
  assertEqual(`helm test: ${output}`, code, 0);
  await podman('rm', '--force', '--time=0', id);
  await outputOf(command, ['uninstall', release], { env });
  const helmVersion = await outputOf(command, ['version', '--short'], { env });
  return `Helm ${helmVersion}: installed ${version} from oci://…, helm test succeeded`;
}

function start({ image, command = [], args = [], env = [], securityContext }: Container, options: readonly string[]) {
  const [entrypoint, ...rest] = command;
  assertEqual('readOnlyRootFilesystem', securityContext.readOnlyRootFilesystem, true);
  return podman(
    ...['run', '--pull=never', ...LOCKED, ...options],
    ...env.map(({ name, value }) => `--env=${name}=${value}`),
    ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`]),
    ...[image, ...rest, ...args],
  );
}
