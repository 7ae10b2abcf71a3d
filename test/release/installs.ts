import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE } from '../../scripts/release/release.ts';
import { run } from '../../scripts/release/run.ts';
import { required, type Stage } from './stage.ts';

/** `npx` as in README, in an empty cache. */
export async function checkPackage(stage: Stage, version: string, revision: string): Promise<string> {
  // Installs it, which may take long; the demo below must be ready soon.
  const printed = run('npx', ['--yes', PACKAGE, '--version'], newUser(stage));
  const expected = `version ${version} (revision: ${revision})`;
  if (!printed.includes(expected)) throw new Error(`npx: expected ${expected}, got ${printed}`);
  const series = await checkDemo(stage, ['npx', '--yes', PACKAGE], version, revision);
  return `npx ${PACKAGE}: ${version}, its demo exports ${series} resources`;
}

function newUser({ work, environment }: Stage) {
  return { cwd: work, env: { ...process.env, ...environment, npm_config_cache: join(work, 'new-user') } };
}

/** Runs the demo of a command that starts the exporter, and returns the number of resources in its metrics. */
async function checkDemo(
  stage: Stage,
  [command = '', ...args]: readonly string[],
  version: string,
  revision: string,
): Promise<number> {
  const child = spawn(command, [...args, '--demo', '--web.listen-address=127.0.0.1:0'], {
    ...newUser(stage),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  try {
    return await checkMetrics(() => log, version, revision);
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  }
}

/** Waits until the exporter of a log is ready and has resources in its metrics. */
async function checkMetrics(log: () => string, version: string, revision: string): Promise<number> {
  const port = await eventually('a port in the log', () => /msg=listening .*port=(\d+)/.exec(log())?.[1]);
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

async function eventually<Value>(
  what: string,
  read: () => Value | undefined | Promise<Value | undefined>,
): Promise<Value> {
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

const PODMAN = ['podman', '--runtime=runc', '--cgroup-manager=cgroupfs'] as const;

function podman(...args: readonly string[]): string {
  const [command, ...options] = PODMAN;
  return run(command, [...options, ...args]).trim();
}

/** As Kubernetes would run it. */
const LOCKED = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges', '--memory=256m'],
  ...['--ulimit=nofile=1024:1024', '--ulimit=nproc=4096:4096', '--no-healthcheck'],
];

export async function checkImage(stage: Stage, version: string, revision: string): Promise<string> {
  const image = `${stage.imageRepository}:${version}`;
  podman('pull', '--quiet', '--tls-verify=false', image);
  const [{ Labels: labels, Healthcheck: healthCheck }] = JSON.parse(podman('image', 'inspect', image));
  const found = ['version', 'revision'].map((name) => labels[`org.opencontainers.image.${name}`]);
  assert.deepEqual(found, [version, revision]);
  assert.equal(healthCheck?.Test.at(-1), '/app/healthcheck.mjs');
  const series = await checkDemo(
    stage,
    [...PODMAN, 'run', '--rm', '--network=host', ...LOCKED, image],
    version,
    revision,
  );
  return `image: ${version}, read-only and without capabilities, its demo exports ${series} resources`;
}

/** Lists, with the Node of the image, the packages that are really in it. */
const LIST_PACKAGES = `
const { readFileSync, globSync } = require('node:fs');
const manifests = globSync(['**/node_modules/*/package.json', '**/node_modules/@*/*/package.json'], { cwd: '/app' });
const packages = manifests.map((file) => JSON.parse(readFileSync('/app/' + file, 'utf8')));
console.log(JSON.stringify(packages.map(({ name, version }) => name + ' ' + version)));
`;

export function checkSbom(stage: Stage, version: string): string {
  const { packages } = JSON.parse(readFileSync(join(stage.release(version), 'sbom.spdx.json'), 'utf8')) as {
    readonly packages: readonly { readonly name: string; readonly versionInfo: string }[];
  };
  const listed = packages.map(({ name, versionInfo }) => `${name} ${versionInfo}`);
  const options = ['--rm', '--network=none', ...LOCKED, '--entrypoint=/nodejs/bin/node'];
  const output = podman('run', ...options, `${stage.imageRepository}:${version}`, '-e', LIST_PACKAGES);
  const found = JSON.parse(output) as readonly string[];
  const lacking = found.filter((name) => !listed.includes(name));
  assert.deepEqual(lacking, [], 'packages of the image that the SBOM lacks');
  return `SBOM: ${listed.length} packages, among them the ${found.length} of the image`;
}

/** Installs the chart on an API server, which has no nodes, and runs the container of its Deployment as a node would. */
export async function checkChart(stage: Stage, version: string, helmVariable: string): Promise<string> {
  const helm = join(required(helmVariable), 'helm');
  const release = 'rehearsal';
  const image = `${stage.imageRepository}:${version}`;
  stage.run(
    helm,
    ...['install', release, `oci://${stage.chartRepository}`, '--version', version, '--plain-http'],
    ...['--set', 'demo=true', '--set', `image.repository=${stage.imageRepository}`],
  );
  const selector = `--selector=app.kubernetes.io/instance=${release}`;
  const { items } = JSON.parse(stage.run('kubectl', 'get', 'deployment', selector, '--output=json'));
  const [container] = items[0].spec.template.spec.containers;
  assert.equal(container.image, image);
  const id = podman('run', '--detach', '--pull=never', '--network=none', ...LOCKED, image, ...container.args);
  // What `helm test` runs in a pod of its own.
  await eventually('a healthy container', () => podman('exec', id, '/nodejs/bin/node', '/app/healthcheck.mjs'));
  podman('rm', '--force', '--time=0', id);
  stage.run(helm, 'uninstall', release);
  return `Helm ${stage.run(helm, 'version', '--short')}: installed ${version} from oci://…, its container is healthy`;
}
