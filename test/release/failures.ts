import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Release } from '../../scripts/release/release.ts';
import { assertEqual, outputOf } from './execute.ts';
import type { Fault } from './faulty-proxy.ts';
import { fail, type Stage } from './stage.ts';
import { hasDigest, type Published } from './state.ts';

/** Step, fault, what was published then, what the next run of the same tag did. */
type TableRow = readonly [string, string, string, string];

/** What is published when nothing was. */
const NOTHING: Published = {
  versions: [],
  distTags: {},
  imageTags: {},
  chartTags: {},
  releases: {},
  latestRelease: undefined,
};

/** The state after the first release, which follows the placeholder. */
export function complete(stage: Stage, folder: string): Published {
  const { version, image, chart } = stage.release(folder);
  const files = readdirSync(join(stage.work, folder, 'assets')).length;
  return {
    versions: ['0.0.0', version],
    distTags: { latest: version },
    imageTags: { [version]: image.digest, latest: image.digest },
    chartTags: { [version]: chart.digest },
    releases: { [`v${version}`]: `${files} files` },
    latestRelease: `v${version}`,
  };
}

/** Faults before anything is published. */
export async function buildFailures(stage: Stage, version: string): Promise<readonly TableRow[]> {
  const wrong = 'not with this tag: the commit is wrong';
  const faults = [
    { tag: 'v99.0.0', fault: 'the files have another version than the tag', error: /expected version 99\.0\.0, got/ },
    { tag: `v${version}.1`, fault: 'the tag is no version', error: /expected a form like 1\.2\.3/ },
  ];
  const rows: TableRow[] = [];
  for (const { tag, fault, error } of faults) {
    await stage.git('tag', tag, `v${version}`);
    const { code, output } = await stage.tryBuild(tag, 'failed');
    if (code === 0 || !error.test(output)) fail(`${fault}: expected an error like ${error}, got ${output}`);
    assertEqual(`published after: ${fault}`, await stage.published(), NOTHING);
    rows.push(['version', fault, 'nothing', wrong]);
  }
  return rows;
}

interface PublishFault {
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

function publishFaults(version: string): readonly PublishFault[] {
  const manifest = (repository: string, name: string) => ({
    method: 'PUT',
    path: new RegExp(`/project/${repository}/manifests/${name}$`),
  });
  const image = 'telemetry-station-exporter';
  const chart = `charts/${image}`;
  const digest = 'sha256:.*';
  const upload = { method: 'POST', path: /\/project\/telemetry-station-exporter\/blobs\/uploads/ };
  const publication = { method: 'PUT', path: /exporter/ };
  return [
    { step: 'compare', fault: 'npm answers 500', npm: { method: 'GET', path: /exporter/ }, leaves: [] },
    { step: 'compare', fault: 'the image registry answers 500', images: { method: 'GET', path: /./ }, leaves: [] },
    { step: 'package', fault: 'npm answers 500', npm: publication, leaves: [] },
    {
      step: 'package',
      fault: 'npm answers 500 after it has stored the package',
      npm: { ...publication, after: true },
      leaves: upTo('package'),
    },
    { step: 'image', fault: 'a layer is answered with 500', images: upload, leaves: upTo('package') },
    { step: 'image', fault: 'the push is denied', images: { ...upload, denied: true }, leaves: upTo('package') },
    { step: 'image', fault: 'the manifest: 500', images: manifest(image, digest), leaves: upTo('package') },
    { step: 'chart', fault: 'the manifest: 500', images: manifest(chart, digest), leaves: upTo('image') },
    { step: 'tags', fault: 'the tag of the chart: 500', images: manifest(chart, version), leaves: upTo('chart') },
    { step: 'tags', fault: 'the tag of the image: 500', images: manifest(image, version), leaves: upTo('chart tag') },
    { step: 'tags', fault: 'latest: 500', images: manifest(image, 'latest'), leaves: upTo('image tag') },
    { step: 'release', fault: 'the draft cannot be created', gh: 'create', leaves: upTo('latest') },
    { step: 'release', fault: 'half of the files are attached', gh: 'upload', leaves: upTo('draft') },
    { step: 'release', fault: 'the draft cannot be published', gh: 'edit', leaves: upTo('draft') },
  ];
}

/** A fault at every step of publishing a folder: what it leaves behind, and that the next run completes it. */
export async function publishFailures(stage: Stage, folder: string): Promise<readonly TableRow[]> {
  const release = stage.release(folder);
  const rows: TableRow[] = [];

  stage.empty();
  const { code, output } = await stage.tryPublish(folder);
  if (code === 0 || !output.includes('CONTRIBUTING.md')) fail(`expected a hint at the first release, got ${output}`);
  assertEqual('published without a package', await stage.published(), NOTHING);
  rows.push(['compare', 'the package was never created', 'nothing', 'complete, after the owner created it']);

  for (const { step, fault, npm, images, gh, leaves } of publishFaults(release.version)) {
    await stage.placeholderOnly();
    stage.npm.set(npm);
    stage.images.set(images);
    const failed = await stage.tryPublish(folder, gh === undefined ? {} : { GH_FAULT: gh });
    if (failed.code === 0) fail(`${step}, ${fault}: expected an error, got ${failed.output}`);
    stage.npm.set(undefined);
    stage.images.set(undefined);
    assertEqual(`${step}, ${fault}`, await artefactsOf(stage, release), leaves);
    await stage.publish(folder);
    assertEqual(`${step}, ${fault}, repeated`, await stage.published(), complete(stage, folder));
    rows.push([step, fault, leaves.join(', ') || 'nothing', 'complete']);
  }
  return [...rows, await deniedPackage(stage, folder), ...(await conflicts(stage, folder))];
}

async function artefactsOf(stage: Stage, { version, image, chart }: Release): Promise<readonly Artefact[]> {
  const { versions, imageTags, chartTags, releases } = await stage.published();
  const state = releases[`v${version}`];
  const found: Readonly<Record<Artefact, boolean>> = {
    package: versions.includes(version),
    image: await hasDigest(stage.places, 'image', image.digest),
    chart: await hasDigest(stage.places, 'chart', chart.digest),
    'chart tag': chartTags[version] === chart.digest,
    'image tag': imageTags[version] === image.digest,
    latest: imageTags['latest'] === image.digest,
    draft: state !== undefined,
    release: state !== undefined && state !== 'draft',
  };
  return ARTEFACTS.filter((artefact) => found[artefact]);
}

/** Not a failure: GitHub's registry denies the tags of a package that does not exist. */
async function deniedPackage(stage: Stage, folder: string): Promise<TableRow> {
  await stage.placeholderOnly();
  stage.images.set({ method: 'GET', path: /\/manifests\/(?!sha256:)/, denied: true });
  await stage.publish(folder);
  stage.images.set(undefined);
  assertEqual('published', await stage.published(), complete(stage, folder));
  return ['compare', 'tags that do not exist are denied, as GitHub does', 'everything', 'not needed'];
}

/** A version or a tag that exists with other contents: nothing is published, and the next run does not replace it either. */
async function conflicts(stage: Stage, folder: string): Promise<readonly TableRow[]> {
  const { version } = stage.release(folder);
  const rows: TableRow[] = [];
  const refused = async (fault: string, create: () => Promise<unknown>) => {
    await stage.placeholderOnly();
    await create();
    const before = await stage.published();
    for (const _ of ['first run', 'next run']) {
      const { code, output } = await stage.tryPublish(folder);
      if (code === 0 || !output.includes('exists with other contents')) {
        fail(`${fault}: expected an error, got ${output}`);
      }
      assertEqual(fault, await stage.published(), before);
    }
    rows.push(['compare', fault, 'nothing', 'refused again: a version is never replaced']);
  };
  await refused('the version of the package exists with other contents', () => stage.publishPackage(version));
  await refused('the tag of the image exists with another digest', () =>
    outputOf('skopeo', [
      ...['copy', '--dest-tls-verify=false', `dir:${join(stage.work, folder, 'chart')}`],
      `docker://${stage.imageRepository}:${version}`,
    ]),
  );
  return [...rows, await changedFile(stage, folder)];
}

/** What was built must arrive unchanged at the job that publishes it. */
async function changedFile(stage: Stage, folder: string): Promise<TableRow> {
  await stage.placeholderOnly();
  const before = await stage.published();
  const file = join(stage.work, folder, 'assets/rules.yml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, `${text}\n`);
  const { code, output } = await stage.tryPublish(folder);
  writeFileSync(file, text);
  if (code === 0 || !output.includes('rules.yml: expected digest')) fail(`expected an error, got ${output}`);
  assertEqual('published', await stage.published(), before);
  return ['compare', 'a file was changed after the build', 'nothing', 'complete, with the files of the build'];
}
