/**
 * Rehearses releases on local registries and installs from them as a new user would. scripts/check-release.sh starts what it needs
 * and passes the addresses; it runs with the Node version of the release, directly from this source.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { sha256 } from '../../scripts/release/release.ts';
import { assertEqual, outputOf } from './execute.ts';
import { complete, publishFailures, wrongTag } from './failures.ts';
import { checkArtifactHub, checkChart, checkImage, checkPackage, checkSbom, type Installed } from './installs.ts';
import { required, Stage } from './stage.ts';

const started = Date.now();
const print = (text: string) => process.stdout.write(`${text}\n`);
const heading = (text: string) => print(`\n-- ${text} (after ${Math.round((Date.now() - started) / 1000)} s)`);

async function rehearse(stage: Stage): Promise<void> {
  const [base = ''] = packageJson.version.split('-');
  const [major = 0, minor = 0, patch = 0] = base.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;
  const later = [
    { version: `${next}-rc.1`, latest: base },
    { version: next, latest: next },
    { version: `${major}.${minor}.${patch + 1}`, latest: next },
  ];

  heading(`build ${base}`);
  await stage.tagVersion(base);
  print(await stage.build(base, 'first'));

  heading('failures, while the same tag is built again on moved base images');
  stage.change('Dockerfile', withoutContents);
  for (const { version } of later) await stage.tagVersion(version);
  await moveBaseTag();
  const second = inBackground(stage.build(base, 'second'));
  stage.copyWithSmallImage('first', 'small');
  const rows = [await wrongTag(stage, base), ...(await publishFailures(stage, 'small'))];
  print('| step | fault | published then | the next run of the same tag |\n|---|---|---|---|');
  for (const row of rows) print(`| ${row.join(' | ')} |`);
  await second;
  const files = stage.filesOf('first');
  assertEqual('second build', stage.filesOf('second'), files);
  const digests = ['first', 'second'].map((folder) => stage.release(folder).image.digest);
  print(`built twice, equal: ${files.length} files; images ${digests.join(' and ')}`);

  heading(`publish ${base}`);
  const builds = inBackground(Promise.all(later.map(({ version }) => stage.build(version, version))));
  await stage.placeholderOnly();
  print(await stage.publish('first'));
  assertEqual('published', await stage.published(), complete(stage, 'first'));
  print(await compareDigests(stage, base));

  heading('install');
  const { revision, image } = stage.release('first');
  const installed: Installed = { version: base, revision, environment: stage.environment, work: stage.work };
  print(await checkPackage(installed));
  print(await checkImage(installed, stage.imageRepository, image));
  print(await checkSbom(join(stage.work, 'first/assets'), stage.imageRepository, base));
  for (const helm of [required('HELM_3'), required('HELM_4')]) {
    print(await checkChart(installed, helm, stage.chartRepository, stage.imageRepository));
  }
  print(await checkArtifactHub(required('HELM_4'), stage.chartRepository, stage.imageRepository, base));

  heading('a candidate, the next version, a patch of the old line');
  await builds;
  for (const { version, latest } of later) {
    await stage.publish(version);
    const { distTags, imageTags, latestRelease } = await stage.published();
    assertEqual(`npm latest after ${version}`, distTags['latest'], latest);
    assertEqual(`image latest after ${version}`, imageTags['latest'], imageTags[latest]);
    assertEqual(`latest release after ${version}`, latestRelease, `v${latest}`);
    const tags = Object.entries(distTags).map(([tag, of]) => `${tag}=${of}`);
    print(`${version}: ${tags.join(' ')}, latest image and release ${latest}`);
  }
  heading('done');
}

/** Work that is awaited later. Its failure is reported then, and not if something else fails before. */
function inBackground<Value>(work: Promise<Value>): Promise<Value> {
  work.catch(() => undefined);
  return work;
}

/** As when all jobs are run again some days later. Only a local registry is written to. */
async function moveBaseTag(): Promise<void> {
  const { host } = new URL(required('IMAGE_REGISTRY'));
  const [build, runtime] = [required('BUILD_IMAGE'), required('RUNTIME_IMAGE')];
  if (!build.startsWith(`${host}/`)) return;
  const insecure = ['--src-tls-verify=false', '--dest-tls-verify=false'];
  const copy = (from: string, to: string) =>
    outputOf('skopeo', ['copy', ...insecure, `docker://${from}`, `docker://${to}`]);
  // They remain what they are by digest.
  await copy(build, runtime);
  print(`${runtime} is now another image`);
}

/** An image that is built in a moment: what it contains does not decide which tags move. */
function withoutContents(dockerfile: string): string {
  const bases = dockerfile.match(/^ARG \w+_IMAGE=.*/gm) ?? [];
  return `${bases.join('\n')}\nFROM $RUNTIME_IMAGE\nCOPY package.json /app/\n`;
}

/** The subjects of the attestation, each compared with what a user downloads. */
async function compareDigests(stage: Stage, version: string): Promise<string> {
  const { imageTags, chartTags } = await stage.published();
  const sums = readFileSync(join(stage.places.ghFolder, `v${version}`, 'assets/SHA256SUMS'), 'utf8');
  const lines = sums.trim().split('\n');
  const digests = Object.fromEntries(lines.map((line) => line.split('  ').toReversed()));
  assertEqual('digest of the image', imageTags[version], `sha256:${digests[stage.imageRepository]}`);
  assertEqual('digest of the chart', chartTags[version], `sha256:${digests[stage.chartRepository]}`);
  const file = `telemetry-station-exporter-${version}.tgz`;
  const reply = await fetch(`${stage.places.npm}/telemetry-station-exporter/-/${file}`);
  assertEqual('digest of the package', sha256(Buffer.from(await reply.arrayBuffer())), digests[file]);
  return `SHA256SUMS, which the workflow attests, has ${lines.length} digests, those of the registries:\n${sums.trim()}`;
}

const stage = await Stage.create();
try {
  await rehearse(stage);
} finally {
  stage.stop();
}
