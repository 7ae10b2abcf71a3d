import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Release } from '../../scripts/release/release.ts';
import { assertEqual, outputOf } from './execute.ts';
import type { Fault } from './faulty-proxy.ts';
import { fail, type Stage } from './stage.ts';
import { hasDigest, type Published } from './state.ts';

/** Step, fault, what was published then, what the next run of the same tag did. */
type TableRow = readonly [string, string, string, string];

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

/** The forms of a version, and every file that names it, are tested in version.test.ts. */
export async function wrongTag(stage: Stage, version: string): Promise<TableRow> {
  const before = await stage.published();
  await stage.git('tag', 'v99.0.0', `v${version}`);
  const { code, output } = await stage.tryBuild('v99.0.0', 'failed');
  if (code === 0 || !output.includes('expected version 99.0.0, got')) fail(`expected an error, got ${output}`);
  assertEqual('published', await stage.published(), before);
  return ['version', 'the files have another version than the tag', 'nothing', 'not with this tag'];
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
  return [...rows, await deniedPackage(stage, folder), ...(await refusals(stage, folder))];
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

/** What must not be published: neither is it in the next run. */
async function refusals(stage: Stage, folder: string): Promise<readonly TableRow[]> {
  const { version } = stage.release(folder);
  const rules = join(stage.work, folder, 'assets/rules.yml');
  const text = readFileSync(rules, 'utf8');
  const otherImage = ['copy', '--dest-tls-verify=false', `dir:${join(stage.work, folder, 'chart')}`];
  const faults: readonly { fault: string; error: string; create: () => unknown }[] = [
    {
      fault: 'the package was never created',
      error: 'CONTRIBUTING.md',
      create: () => stage.empty(),
    },
    {
      fault: 'the version of the package exists with other contents',
      error: 'exists with other contents',
      create: () => stage.publishPackage(version),
    },
    {
      fault: 'the tag of the image exists with another digest',
      error: 'exists with other contents',
      create: () => outputOf('skopeo', [...otherImage, `docker://${stage.imageRepository}:${version}`]),
    },
    {
      fault: 'a file was changed after the build',
      error: 'rules.yml: expected digest',
      create: () => writeFileSync(rules, `${text}\n`),
    },
  ];
  const rows: TableRow[] = [];
  for (const { fault, error, create } of faults) {
    await stage.placeholderOnly();
    await create();
    const before = await stage.published();
    for (const run of ['first run', 'next run']) {
      const { code, output } = await stage.tryPublish(folder);
      if (code === 0 || !output.includes(error)) fail(`${fault}, ${run}: expected an error, got ${output}`);
      assertEqual(`${fault}, ${run}`, await stage.published(), before);
    }
    rows.push(['compare', fault, 'nothing', 'refused again']);
  }
  writeFileSync(rules, text);
  return rows;
}
