/**
 * Rehearses releases on local registries and installs from them as a new user would. scripts/check-release.sh starts what it needs
 * and passes the addresses; it runs with the Node version of the release, directly from this source.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { assertEqual, execute, outputOf } from './execute.ts';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';
import { checkChart, checkImage, checkPackage, checkSbom, type Installed } from './installs.ts';
import { hasDigest, type Places, type Published, published, reset } from './state.ts';

const required = (name: string) => process.env[name] ?? fail(`${name} is not set: run scripts/check-release.sh`);
function fail(message: string): never {
  throw new Error(message);
}
const work = required('REHEARSAL_FOLDER');
const places: Places = {
  npm: required('NPM_REGISTRY'),
  images: required('IMAGE_REGISTRY'),
  npmFolder: join(work, 'npm-registry'),
  imagesFolder: join(work, 'image-registry'),
  ghFolder: join(work, 'releases'),
};
const root = join(import.meta.dirname, '../..');
const clone = join(work, 'clone');
const npm = await FaultyProxy.start(places.npm);
const images = await FaultyProxy.start(places.images);
const imageRepository = `${images.host}/project/telemetry-station-exporter`;
const chartRepository = `${images.host}/project/charts/telemetry-station-exporter`;
const names = { IMAGE_REPOSITORY: imageRepository, CHART_REPOSITORY: chartRepository, INSECURE_REGISTRY: 'true' };
/** Of the job that publishes, and of users. */
const environment = {
  ...names,
  npm_config_registry: `http://${npm.host}/`,
  npm_config_cache: join(work, 'npm-cache'),
  npm_config_userconfig: join(work, 'npmrc'),
  // A fault stays until the run has failed.
  npm_config_fetch_retries: '0',
  GH_FOLDER: places.ghFolder,
  PATH: `${join(work, 'bin')}:${process.env['PATH']}`,
};
const print = (text: string) => process.stdout.write(`${text}\n`);

async function rehearse(): Promise<void> {
  await prepareTools();
  const [base = ''] = packageJson.version.split('-');
  const [major = 0, minor = 0, patch = 0] = base.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;

  print(`\n-- build ${base}, twice`);
  await tagVersion(base);
  print(await build(base, 'first'));
  await build(base, 'second');
  compareBuilds('first', 'second');

  print('\n-- failures');
  const rows = [...(await buildFailures(base)), ...(await publishFailures(base))];
  print('\n| step | fault | published then | the next run of the same tag |\n|---|---|---|---|');
  for (const row of rows) print(`| ${row.join(' | ')} |`);

  print(`\n-- publish ${base}`);
  reset(places);
  await createPackage();
  print(await publishes('first'));
  const release = released('first');
  assertEqual('published', await published(places), complete(base, release));
  const digests = await digestsOf(base);
  print(
    `${Object.keys(digests).length} digests in SHA256SUMS, which the workflow attests, are those of the registries`,
  );

  print('\n-- install');
  const installed: Installed = { version: base, revision: release.revision, environment, work };
  print(await checkPackage(installed));
  print(await checkImage(installed, imageRepository, release.image));
  print(await checkSbom(join(work, 'first/assets'), imageRepository, base));
  for (const helm of [required('HELM_3'), required('HELM_4')]) {
    print(await checkChart(installed, helm, chartRepository, imageRepository));
  }

  print('\n-- a candidate, the next version, a patch of the old line');
  const candidate = `${next}-rc.1`;
  const old = `${major}.${minor}.${patch + 1}`;
  for (const { version, latest } of [
    { version: candidate, latest: base },
    { version: next, latest: next },
    { version: old, latest: next },
  ]) {
    await tagVersion(version);
    await build(version, version, { PLATFORMS: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}` });
    await publishes(version);
    const { distTags, imageTags, latestRelease } = await published(places);
    assertEqual(`npm latest after ${version}`, distTags['latest'], latest);
    assertEqual(`image latest after ${version}`, imageTags['latest'], imageTags[latest]);
    assertEqual(`latest release after ${version}`, latestRelease, `v${latest}`);
    print(
      `${version}: ${Object.entries(distTags)
        .map(([tag, of]) => `${tag}=${of}`)
        .join(' ')}, latest image ${latest}`,
    );
  }
}

/** The stand-in of GitHub, and the credentials of a user of the local registry. */
async function prepareTools(): Promise<void> {
  mkdirSync(join(work, 'bin'), { recursive: true });
  const gh = join(work, 'bin/gh');
  writeFileSync(gh, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, 'gh.ts')}" "$@"\n`);
  chmodSync(gh, 0o755);
  const user = { name: 'rehearsal', password: 'rehearsal-password', type: 'user', roles: [], _id: '' };
  const reply = await fetch(`${places.npm}/-/user/org.couchdb.user:rehearsal`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...user, _id: 'org.couchdb.user:rehearsal' }),
  });
  const { token } = (await reply.json()) as { readonly token?: string };
  writeFileSync(
    join(work, 'npmrc'),
    `//${npm.host}/:_authToken=${token ?? fail('expected a token of the registry')}\n`,
  );
  await outputOf('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
}

/** A commit that releases the version, and its tag, in a clone that is thrown away. */
async function tagVersion(version: string): Promise<void> {
  const changelog = join(clone, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  if (!text.includes(`\n## ${version} / `)) {
    const section = `# Changelog\n\n## ${version} / unreleased\n\n* [BUGFIX] A rehearsed one.\n`;
    writeFileSync(changelog, text.replace('# Changelog\n', section));
  }
  await outputOf(process.execPath, ['scripts/release/prepare.ts', version], { cwd: clone });
  const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@example.com'];
  await outputOf('git', [...author, 'commit', '--quiet', '--all', '--message', `release: ${version}`], { cwd: clone });
  await outputOf('git', ['tag', `v${version}`], { cwd: clone });
}

function build(version: string, folder: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  return outputOf(process.execPath, ['scripts/release/build.ts', `v${version}`, join(work, folder)], {
    cwd: clone,
    env: { ...names, ...env },
  });
}

function publish(folder: string, env: Readonly<Record<string, string>> = {}) {
  return execute(process.execPath, ['scripts/release/publish.ts', join(work, folder)], {
    cwd: clone,
    env: { ...environment, ...env },
  });
}

async function publishes(folder: string): Promise<string> {
  const { code, output } = await publish(folder);
  if (code !== 0) fail(output);
  return output.trim();
}

interface Release {
  readonly revision: string;
  readonly image: { readonly digest: string; readonly platforms: readonly string[]; readonly bases: readonly string[] };
  readonly chart: { readonly digest: string };
}

function released(folder: string): Release {
  return JSON.parse(readFileSync(join(work, folder, 'assets/release.json'), 'utf8'));
}

function compareBuilds(one: string, other: string): void {
  const [first, second] = [one, other].map((folder) => {
    const entries = readdirSync(join(work, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return files
      .map((file) => `${file.slice(join(work, folder).length)} ${hash(readFileSync(file), 'hex')}`)
      .toSorted();
  });
  assertEqual('second build', second, first);
  print(`equal: ${first?.length} files; image ${released(one).image.digest} and ${released(other).image.digest}`);
}

function hash(content: Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(content).digest(encoding);
}

/** What the owner does once by hand: see "The first release" in CONTRIBUTING.md. */
async function createPackage(): Promise<void> {
  const folder = join(work, 'placeholder');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "telemetry-station-exporter", "version": "0.0.0" }\n');
  await outputOf('npm', ['publish', '--access=public'], { cwd: folder, env: environment });
}

/** The state after a release of a version, the first one after the placeholder. */
function complete(version: string, { image, chart }: Release): Published {
  const files = readdirSync(join(work, 'first/assets')).length;
  return {
    versions: ['0.0.0', version],
    distTags: { latest: version },
    imageTags: { [version]: image.digest, latest: image.digest },
    chartTags: { [version]: chart.digest },
    releases: { [`v${version}`]: `${files} files` },
    latestRelease: `v${version}`,
  };
}

async function buildFailures(base: string): Promise<readonly (readonly string[])[]> {
  const rows: string[][] = [];
  const fails = async (step: string, fault: string, expected: RegExp, tag: string, env = {}) => {
    const { code, output } = await execute(process.execPath, ['scripts/release/build.ts', tag, join(work, 'failed')], {
      cwd: clone,
      env: { ...names, ...env },
    });
    if (code === 0 || !expected.test(output)) fail(`${fault}: expected an error like ${expected}, got ${output}`);
    assertEqual(`published after ${fault}`, await published(places), NOTHING);
    rows.push([step, fault, 'nothing', 'not with this tag: the commit is wrong']);
  };
  await outputOf('git', ['tag', 'v99.0.0'], { cwd: clone });
  await fails('version', 'the files have another version than the tag', /expected version 99\.0\.0, got/, 'v99.0.0');
  await outputOf('git', ['tag', `v${base}.1`], { cwd: clone });
  await fails('version', 'the tag is no version', /expected a form like 1\.2\.3/, `v${base}.1`);
  images.set({ method: 'GET', path: /manifests/ });
  const runtime = required('RUNTIME_IMAGE').replace(/^[^/]*/, images.host);
  const failed = await execute(process.execPath, ['scripts/release/build.ts', `v${base}`, join(work, 'failed')], {
    cwd: clone,
    env: { ...names, RUNTIME_IMAGE: runtime },
  });
  images.set(undefined);
  if (failed.code === 0 || !/500|injected/.test(failed.output))
    fail(`base image: expected an error, got ${failed.output}`);
  assertEqual('published after a failing build', await published(places), NOTHING);
  rows.push(['base images', 'the registry answers 500', 'nothing', 'complete']);
  return rows;
}

const NOTHING: Published = {
  versions: [],
  distTags: {},
  imageTags: {},
  chartTags: {},
  releases: {},
  latestRelease: undefined,
};

interface Row {
  readonly step: string;
  readonly fault: string;
  readonly npm?: Fault;
  readonly images?: Fault;
  readonly gh?: string;
  /** What the failed run leaves behind, in the order of publication. */
  readonly leaves: readonly Artefact[];
}

const ARTEFACTS = ['package', 'image', 'chart', 'chart tag', 'image tag', 'latest', 'draft', 'release'] as const;
type Artefact = (typeof ARTEFACTS)[number];

const upTo = (last: Artefact) => ARTEFACTS.slice(0, ARTEFACTS.indexOf(last) + 1);

function publishRows(version: string): readonly Row[] {
  const tag = (repository: string, name: string) => ({
    method: 'PUT',
    path: new RegExp(`/project/${repository}/manifests/${name}$`),
  });
  const image = 'telemetry-station-exporter';
  const chart = `charts/${image}`;
  const digest = 'sha256:.*';
  return [
    { step: 'compare', fault: 'npm answers 500', npm: { method: 'GET', path: /exporter/ }, leaves: [] },
    { step: 'compare', fault: 'the image registry answers 500', images: { method: 'GET', path: /./ }, leaves: [] },
    { step: 'package', fault: 'npm answers 500', npm: { method: 'PUT', path: /exporter/ }, leaves: [] },
    {
      step: 'package',
      fault: 'npm answers 500 after it has stored the package',
      npm: { method: 'PUT', path: /exporter/, after: true },
      leaves: upTo('package'),
    },
    {
      step: 'image',
      fault: 'the upload of a layer is answered with 500',
      images: { method: 'POST', path: /\/project\/telemetry-station-exporter\/blobs\/uploads/ },
      leaves: upTo('package'),
    },
    { step: 'image', fault: 'the manifest is answered with 500', images: tag(image, digest), leaves: upTo('package') },
    { step: 'chart', fault: 'the manifest is answered with 500', images: tag(chart, digest), leaves: upTo('image') },
    { step: 'tags', fault: 'the tag of the chart: 500', images: tag(chart, version), leaves: upTo('chart') },
    { step: 'tags', fault: 'the tag of the image: 500', images: tag(image, version), leaves: upTo('chart tag') },
    { step: 'tags', fault: 'latest: 500', images: tag(image, 'latest'), leaves: upTo('image tag') },
    { step: 'release', fault: 'the draft cannot be created', gh: 'create', leaves: upTo('latest') },
    { step: 'release', fault: 'half of the files are attached', gh: 'upload', leaves: upTo('draft') },
    { step: 'release', fault: 'the draft cannot be published', gh: 'edit', leaves: upTo('draft') },
  ];
}

async function publishFailures(version: string): Promise<readonly (readonly string[])[]> {
  const release = released('first');
  const rows: string[][] = [];
  const fails = async (env: Readonly<Record<string, string>> = {}) => {
    const { code, output } = await publish('first', env);
    if (code === 0) fail(`expected an error, got ${output}`);
    return output;
  };

  reset(places);
  if (!(await fails()).includes('CONTRIBUTING.md')) fail('expected a link to the first release');
  assertEqual('published without a package', await published(places), NOTHING);
  rows.push(['compare', 'the package was never created', 'nothing', 'complete, after the owner created it']);

  for (const { step, fault, npm: npmFault, images: imageFault, gh, leaves } of publishRows(version)) {
    reset(places);
    await createPackage();
    npm.set(npmFault);
    images.set(imageFault);
    await fails(gh === undefined ? {} : { GH_FAULT: gh });
    npm.set(undefined);
    images.set(undefined);
    assertEqual(`${step}, ${fault}`, await artefacts(version, release), leaves);
    await publishes('first');
    assertEqual(`${step}, ${fault}, repeated`, await published(places), complete(version, release));
    rows.push([step, fault, leaves.join(', ') || 'nothing', 'complete']);
    print(`${step}: ${fault}: left ${leaves.join(', ') || 'nothing'}, completed by the next run`);
  }
  return [...rows, ...(await conflicts(version, release))];
}

/** What a run has published of a version. */
async function artefacts(version: string, { image, chart }: Release): Promise<readonly Artefact[]> {
  const { versions, imageTags, chartTags, releases } = await published(places);
  const state = releases[`v${version}`];
  const found: Readonly<Record<Artefact, boolean>> = {
    package: versions.includes(version),
    image: await hasDigest(places, 'image', image.digest),
    chart: await hasDigest(places, 'chart', chart.digest),
    'chart tag': chartTags[version] === chart.digest,
    'image tag': imageTags[version] === image.digest,
    latest: imageTags['latest'] === image.digest,
    draft: state !== undefined,
    release: state !== undefined && state !== 'draft',
  };
  return ARTEFACTS.filter((artefact) => found[artefact]);
}

/** A version or a tag that exists with other contents: nothing is published, and the next run does not replace it either. */
async function conflicts(version: string, release: Release): Promise<readonly (readonly string[])[]> {
  const rows: string[][] = [];
  const refused = async (fault: string, create: () => Promise<unknown>) => {
    reset(places);
    await createPackage();
    await create();
    const before = await published(places);
    for (const _ of ['first run', 'next run']) {
      const { code, output } = await publish('first');
      if (code === 0 || !output.includes('exists with other contents'))
        fail(`${fault}: expected an error, got ${output}`);
      assertEqual(fault, await published(places), before);
    }
    rows.push(['compare', fault, 'nothing', 'refused again: a version is never replaced']);
  };
  await refused('the version of the package exists with other contents', async () => {
    const folder = join(work, 'other');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), `{ "name": "telemetry-station-exporter", "version": "${version}" }\n`);
    await outputOf('npm', ['publish', '--access=public'], { cwd: folder, env: environment });
  });
  await refused('the tag of the image exists with another digest', () =>
    outputOf('skopeo', [
      ...['copy', '--dest-tls-verify=false', `dir:${join(work, 'first/chart')}`],
      `docker://${imageRepository}:${version}`,
    ]),
  );
  return [...rows, ...(await changedFolder(release))];
}

/** What was built must arrive unchanged at the job that publishes it. */
async function changedFolder({ image }: Release): Promise<readonly (readonly string[])[]> {
  reset(places);
  await createPackage();
  await outputOf('cp', ['--recursive', join(work, 'first'), join(work, 'changed')]);
  const file = join(work, 'changed/assets/rules.yml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n`);
  const { code, output } = await publish('changed');
  if (code === 0 || !output.includes('rules.yml: expected digest')) fail(`expected an error, got ${output}`);
  assertEqual('published', (await published(places)).versions, ['0.0.0']);
  assertEqual('image', await hasDigest(places, 'image', image.digest), false);
  return [['compare', 'a file was changed after the build', 'nothing', 'complete, with the files of the build']];
}

/** The subjects of the attestation, each compared with what a user downloads. */
async function digestsOf(version: string): Promise<Readonly<Record<string, string>>> {
  const { imageTags, chartTags } = await published(places);
  const lines = readFileSync(join(places.ghFolder, `v${version}`, 'assets/SHA256SUMS'), 'utf8')
    .trim()
    .split('\n');
  const digests = Object.fromEntries(lines.map((line) => line.split('  ').toReversed()));
  assertEqual('digest of the image', imageTags[version], `sha256:${digests[imageRepository]}`);
  assertEqual('digest of the chart', chartTags[version], `sha256:${digests[chartRepository]}`);
  const name = 'telemetry-station-exporter';
  const file = `${name}-${version}.tgz`;
  const reply = await fetch(`${places.npm}/${name}/-/${file}`);
  assertEqual('digest of the package', hash(Buffer.from(await reply.arrayBuffer()), 'hex'), digests[file]);
  return digests;
}

try {
  await rehearse();
} finally {
  npm.stop();
  images.stop();
}
