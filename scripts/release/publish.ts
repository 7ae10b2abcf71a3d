/**
 * Publishes what `build.ts` has built: the package, the image and the chart by digest, their tags, the release.
 *   node scripts/release/publish.ts FOLDER
 * Needs npm, skopeo and gh, each logged in; uses no npm package. Nothing is published before everything was compared with what the
 * registries have. A run that fails is repeated with the same tag: what is published already is left as it is, and the rest follows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOfFolder, digestOfImage, tlsVerify } from './image.ts';
import {
  ASSETS,
  CHART_FOLDER,
  CHART_REPOSITORY,
  CHECKSUMS,
  IMAGE_FOLDER,
  IMAGE_REPOSITORY,
  integrityOf,
  PACKAGE,
  type Release,
  readRelease,
  sha256,
} from './release.ts';
import { CommandError, main, report, run } from './run.ts';
import { distTag, isNewest, parseVersion, type Version } from './version.ts';

main(() => {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node scripts/release/publish.ts FOLDER');
  const release = readRelease(folder);
  const version = parseVersion(release.version);

  report(`== compare ${release.tag} with what is published`);
  verifyFolder(folder, release);
  const published = publishedVersions();
  const existing = existingArtefacts(release, published);
  const newest = isNewest(version, published);
  report(newest ? 'the newest version: becomes latest' : 'not the newest version: latest stays as it is');

  report('== package');
  if (existing.package) report(`${PACKAGE}@${release.version} is published`);
  else publishPackage(folder, release, version, published);

  report('== image and chart, by digest');
  push(join(folder, IMAGE_FOLDER), `${IMAGE_REPOSITORY}@${release.image.digest}`);
  push(join(folder, CHART_FOLDER), `${CHART_REPOSITORY}@${release.chart.digest}`);

  report('== tags');
  addTag(CHART_REPOSITORY, release.chart.digest, release.version);
  addTag(IMAGE_REPOSITORY, release.image.digest, release.version);
  if (newest) addTag(IMAGE_REPOSITORY, release.image.digest, 'latest');

  report('== release');
  publishRelease(folder, release, version, newest);
});

/** The folder may have passed through other hands since it was built. */
function verifyFolder(folder: string, release: Release): void {
  const digests = new Map<string, string>([
    [IMAGE_REPOSITORY, digestOfFolder(join(folder, IMAGE_FOLDER))],
    [CHART_REPOSITORY, digestOfFolder(join(folder, CHART_FOLDER))],
  ]);
  const lines = readFileSync(join(folder, ASSETS, CHECKSUMS), 'utf8')
    .trim()
    .split('\n');
  for (const line of lines) {
    const [expected = '', name = ''] = line.split('  ');
    const found = digests.get(name) ?? `sha256:${sha256(readFileSync(join(folder, ASSETS, name)))}`;
    if (found !== `sha256:${expected}`) throw new Error(`${name}: expected digest sha256:${expected}, got ${found}`);
  }
  if (integrityOf(join(folder, ASSETS, release.package.file)) !== release.package.integrity) {
    throw new Error(`${release.package.file}: expected integrity ${release.package.integrity}`);
  }
}

function publishedVersions(): readonly string[] {
  const versions = npmView(PACKAGE, 'versions');
  if (versions === undefined) {
    throw new Error(`the registry has no package ${PACKAGE}: see "The first release" in CONTRIBUTING.md`);
  }
  return [JSON.parse(versions)].flat();
}

/** What an earlier run has published. The same names with other contents are an error: versions and their tags are never replaced. */
function existingArtefacts(release: Release, published: readonly string[]): { readonly package: boolean } {
  const { version, image, chart } = release;
  const { integrity } = release.package;
  const problems: string[] = [];
  const compare = (name: string, expected: string, found: string | undefined) => {
    if (found !== undefined && found !== expected) {
      problems.push(`${name} exists with other contents: ${found}, expected ${expected}`);
    }
    return found !== undefined;
  };
  const view = published.includes(version) ? npmView(`${PACKAGE}@${version}`, 'dist.integrity') : undefined;
  const existing = compare(`${PACKAGE}@${version}`, integrity, view && JSON.parse(view));
  for (const [repository, { digest }] of [[IMAGE_REPOSITORY, image] as const, [CHART_REPOSITORY, chart] as const]) {
    compare(`${repository}:${version}`, digest, digestOfTag(repository, version));
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return { package: existing };
}

function npmView(spec: string, field: string): string | undefined {
  try {
    return run('npm', ['view', spec, field, '--json', '--prefer-online']).trim();
  } catch (error) {
    if (error instanceof CommandError && error.output.includes('E404')) return undefined;
    throw error;
  }
}

function publishPackage(folder: string, release: Release, version: Version, published: readonly string[]): void {
  const file = join(folder, ASSETS, release.package.file);
  const tag = distTag(version, published);
  // In GitHub Actions npm proves with the token of the job which workflow built the package.
  const provenance = process.env['GITHUB_ACTIONS'] === 'true' ? ['--provenance'] : [];
  run('npm', ['publish', '--ignore-scripts', '--access=public', ...provenance, `--tag=${tag}`, file]);
  report(`${PACKAGE}@${release.version} as ${tag}`);
}

function push(folder: string, reference: string): void {
  const options = ['--all', '--preserve-digests', ...tlsVerify('dest-tls-verify')];
  run('skopeo', ['copy', ...options, `dir:${folder}`, `docker://${reference}`]);
  report(reference);
}

/** The tag of a version is never moved; `latest` is. */
function addTag(repository: string, digest: string, tag: string): void {
  const name = `${repository}:${tag}`;
  const found = digestOfTag(repository, tag);
  if (found === digest) {
    report(`${name} is published`);
    return;
  }
  if (found !== undefined && tag !== 'latest') {
    throw new Error(`${name} exists with other contents: ${found}, expected ${digest}`);
  }
  const options = ['--all', '--preserve-digests', ...tlsVerify('src-tls-verify'), ...tlsVerify('dest-tls-verify')];
  run('skopeo', ['copy', ...options, `docker://${repository}@${digest}`, `docker://${name}`]);
  report(`${name} ${digest}`);
}

function digestOfTag(repository: string, tag: string): string | undefined {
  try {
    return digestOfImage(`${repository}:${tag}`);
  } catch (error) {
    // GitHub's registry may answer `denied` for a package that does not exist yet. Who may not read it may not push either, so a
    // real lack of permission is an error of the push. Errors of the network do not mean that the tag is free.
    if (error instanceof CommandError && /manifest unknown|name unknown|not found|denied/i.test(error.output))
      return undefined;
    throw error;
  }
}

/** A draft is visible to maintainers alone: it becomes the release when all files are attached. */
function publishRelease(folder: string, { tag, version }: Release, { suffix }: Version, newest: boolean): void {
  const state = releaseState(tag);
  if (state === 'published') {
    report(`${tag} is published`);
    return;
  }
  if (state === 'none') {
    const notes = ['--title', version, '--notes-file', join(folder, 'notes.md')];
    run('gh', ['release', 'create', tag, '--draft', '--verify-tag', `--prerelease=${suffix !== undefined}`, ...notes]);
  }
  const assets = join(folder, ASSETS);
  const files = readdirSync(assets).map((file) => join(assets, file));
  run('gh', ['release', 'upload', tag, '--clobber', ...files]);
  run('gh', ['release', 'edit', tag, '--draft=false', `--latest=${newest}`]);
  report(`${tag} with ${files.length} files`);
}

function releaseState(tag: string): 'none' | 'draft' | 'published' {
  try {
    return JSON.parse(run('gh', ['release', 'view', tag, '--json', 'isDraft'])).isDraft ? 'draft' : 'published';
  } catch (error) {
    if (error instanceof CommandError && error.output.includes('release not found')) return 'none';
    throw error;
  }
}
