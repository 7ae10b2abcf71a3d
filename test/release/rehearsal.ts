/**
 * Rehearses releases on local registries and installs from them as a new user would. scripts/check-release.sh starts what it needs
 * and passes the addresses; it runs with the Node version of the release, directly from this source.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { ARCHITECTURES, layersOf } from '../../scripts/release/image.ts';
import { digestOfFile, PACKAGE, sha256 } from '../../scripts/release/release.ts';
import { run } from '../../scripts/release/run.ts';
import { checkChart, checkImage, checkPackage, checkSbom } from './installs.ts';
import { required, Stage } from './stage.ts';

const started = Date.now();
const print = (text: string) => process.stdout.write(`${text}\n`);
const heading = (text: string) => print(`\n-- ${text} (after ${Math.round((Date.now() - started) / 1000)} s)`);

const [version = ''] = packageJson.version.split('-');
const [major = 0, minor = 0] = version.split('.').map(Number);
const candidate = `${major}.${minor + 1}.0-rc.1`;
const stage = new Stage();
await stage.logIn();

heading(`build ${version}`);
stage.tagVersion(version);
print(stage.build(version));
const packed = run('tar', ['--list', '--file', stage.files(version).package]).split('\n');
assert.deepEqual(
  packed.filter((file) => file.startsWith('package/README')),
  ['package/README.md'],
);
stage.git('tag', 'v99.0.0', `v${version}`);
assert.throws(() => stage.build('99.0.0'), /expected version 99\.0\.0, got/);

heading('publish it, with a fault at every step');
assert.throws(() => stage.publish(version), /see "The first release" in CONTRIBUTING\.md/);
stage.publishPlaceholder();
stage.leaveDraft(version);
// In the order of publication; the second copy is that of `latest`. What a killed run has published is there in the next one.
for (const command of ['npm publish', 'skopeo copy', 'helm push', 'skopeo copy', 'gh release create']) {
  assert.throws(() => stage.publish(version, { fault: { command, after: false } }), /injected fault/, command);
  assert.throws(() => stage.publish(version, { fault: { command, after: true } }), /failed:/, command);
  print(`${command}: failed, and was killed afterwards`);
}
print(stage.publish(version));
const first = { distTags: { latest: version }, latestImage: stage.digestOfTag(version), latestRelease: `v${version}` };
assert.deepEqual(stage.published(), first);
print(checkDownloads());
checkOutputs();

heading('install');
const revision = stage.revision(version);
print(await checkPackage(stage, version, revision));
print(await checkImage(stage, version, revision));
print(checkSbom(stage, version));
for (const helm of ['HELM_3', 'HELM_4']) print(await checkChart(stage, version, helm));

heading('a candidate');
stage.change('Dockerfile', withoutContents);
stage.tagVersion(candidate);
stage.build(candidate);
print(stage.publish(candidate));
assert.deepEqual(stage.published(), { ...first, distTags: { latest: version, next: candidate } });

heading('build the first version again, on moved base images');
moveBaseTag();
stage.build(version, 'again');
const [files, again] = [stage.files(version), stage.files(version, 'again')];
assert.equal(digestOfFile(again.package), digestOfFile(files.package));
for (const architecture of ARCHITECTURES) {
  assert.deepEqual(layersOf(`dir:${again.image}`, architecture), layersOf(`dir:${files.image}`, architecture));
}
print('the same package and layers');
// The configuration of the image names the container that built it.
assert.throws(() => stage.publish(version, { name: 'again' }), /exists with other contents/);
print('not published, because the version exists');
heading('done');

/** What the workflow attests, compared with what a user downloads. */
function checkDownloads(): string {
  const release = stage.release(version);
  const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const digests = new Map(sums.map((line) => [line.slice(66), `sha256:${line.slice(0, 64)}`]));
  const names = readdirSync(release).filter((name) => name !== 'SHA256SUMS' && name !== 'state.json');
  assert.deepEqual([...digests.keys()].toSorted(), [...names, stage.imageRepository].toSorted());
  for (const name of names) assert.equal(digestOfFile(join(release, name)), digests.get(name), name);
  assert.equal(stage.digestOfTag(version), digests.get(stage.imageRepository));
  const file = `${PACKAGE}-${version}.tgz`;
  stage.run('npm', 'pack', `${PACKAGE}@${version}`);
  assert.equal(digestOfFile(join(stage.work, file)), digests.get(file));
  stage.run('helm', 'pull', `oci://${stage.chartRepository}`, '--version', version, '--plain-http');
  assert.equal(digestOfFile(join(stage.work, file)), digests.get(`${PACKAGE}-chart-${version}.tgz`));
  return `SHA256SUMS has ${sums.length} digests, those of the downloads`;
}

/** What the workflow attests in the registry. */
function checkOutputs(): void {
  const chart = `docker://${stage.chartRepository}:${version}`;
  assert.deepEqual(stage.outputs(), {
    image: stage.imageRepository,
    image_digest: stage.digestOfTag(version),
    chart: stage.chartRepository,
    chart_digest: `sha256:${sha256(stage.run('skopeo', 'inspect', '--raw', '--tls-verify=false', chart))}`,
  });
}

/** As when a tag is built again some days later. Only a local registry is written to. */
function moveBaseTag(): void {
  const [build, runtime] = [required('BUILD_IMAGE'), required('RUNTIME_IMAGE')];
  if (!build.startsWith(new URL(required('IMAGE_REGISTRY')).host)) return;
  const insecure = ['--src-tls-verify=false', '--dest-tls-verify=false'];
  stage.run('skopeo', 'copy', ...insecure, `docker://${build}`, `docker://${runtime}`);
}

/** An image that is built in a moment: what it contains does not decide which tags move. */
function withoutContents(dockerfile: string): string {
  const bases = dockerfile.match(/^ARG \w+_IMAGE=.*/gm) ?? [];
  return `${bases.join('\n')}\nFROM $RUNTIME_IMAGE\nCOPY package.json /app/\n`;
}
