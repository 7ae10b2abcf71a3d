/**
 * Publishes what `build.ts` has built from a tag: the package, the image, the chart, the release.
 *   node scripts/release/publish.ts TAG FOLDER
 * Needs npm, skopeo, helm and gh, each logged in; uses no npm package. A run that fails is repeated with the same folder: what is
 * published already is left as it is, and the rest follows.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOfImage, digestOfImageFolder, manifestOf, tlsVerify } from './image.ts';
import {
  CHART_REPOSITORY,
  digestOfFile,
  IMAGE_REPOSITORY,
  INSECURE,
  PACKAGE,
  releaseFiles,
  sha256,
} from './release.ts';
import { CommandError, main, report, run } from './run.ts';
import { distTag, isNewest, parseVersion, type Version } from './version.ts';

main(() => {
  const [tag, folder] = process.argv.slice(2);
  if (tag === undefined || folder === undefined) throw new Error('usage: node scripts/release/publish.ts TAG FOLDER');
  const version = parseVersion(tag.replace(/^v/, ''));
  const files = releaseFiles(folder, version.text);
  const image = `${IMAGE_REPOSITORY}:${version.text}`;
  const chart = `${CHART_REPOSITORY}:${version.text}`;

  report(`== compare ${tag} with what is published`);
  const published = publishedVersions();
  const newest = isNewest(version, published);
  report(newest ? 'the newest version: becomes latest' : 'not the newest version: latest stays as it is');
  const hasPackage = isPublished(
    `${PACKAGE}@${version.text}`,
    published.includes(version.text) ? publishedIntegrity(version.text) : undefined,
    integrityOf(files.package),
  );
  const hasImage = isPublished(image, publishedImage(image), digestOfImageFolder(files.image));
  const hasChart = isPublished(chart, publishedChart(chart), digestOfFile(files.chart));

  report('== publish');
  if (!hasPackage) publishPackage(files.package, distTag(version, published));
  if (!hasImage) pushImage(files.image, image);
  if (!hasChart) pushChart(files.chart);
  if (newest) pushImage(files.image, `${IMAGE_REPOSITORY}:latest`);
  outputDigests({ image: digestOfImageFolder(files.image), chart: digestOfImage(chart) });
  publishRelease(tag, version, newest, files);
});

/** Whether an earlier run has published this. Versions are never replaced: the same name with other contents is an error. */
function isPublished(name: string, found: string | undefined, built: string): boolean {
  if (found === undefined) return false;
  if (found !== built) throw new Error(`${name} exists with other contents: ${found}, expected ${built}`);
  report(`${name} is published`);
  return true;
}

function publishedVersions(): readonly string[] {
  try {
    return [npmView(PACKAGE, 'versions')].flat();
  } catch (error) {
    if (!(error instanceof CommandError && error.output.includes('E404'))) throw error;
    throw new Error(`the registry has no package ${PACKAGE}: see "The first release" in CONTRIBUTING.md`);
  }
}

function publishedIntegrity(version: string): string {
  return String(npmView(`${PACKAGE}@${version}`, 'dist.integrity'));
}

function npmView(spec: string, field: string): string | readonly string[] {
  return JSON.parse(run('npm', ['view', spec, field, '--json', '--prefer-online']));
}

/** As npm's registry writes it. */
function integrityOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}

function publishedImage(reference: string): string | undefined {
  const manifest = publishedManifest(reference);
  return manifest === undefined ? undefined : `sha256:${sha256(manifest)}`;
}

/** For the following steps of the workflow, which attest what is in the registry. */
function outputDigests({ image, chart }: { readonly image: string; readonly chart: string }): void {
  const file = process.env['GITHUB_OUTPUT'];
  if (file === undefined) return;
  const outputs = { image: IMAGE_REPOSITORY, image_digest: image, chart: CHART_REPOSITORY, chart_digest: chart };
  for (const [name, value] of Object.entries(outputs)) appendFileSync(file, `${name}=${value}\n`);
}

/** The digest of the packaged chart. That of its manifest depends on the time when Helm pushed it. */
function publishedChart(reference: string): string | undefined {
  const manifest = publishedManifest(reference);
  return manifest === undefined ? undefined : JSON.parse(manifest).layers[0].digest;
}

function publishedManifest(reference: string): string | undefined {
  try {
    return manifestOf(reference);
  } catch (error) {
    // GitHub's registry may answer `denied` for a package that does not exist yet. Who may not read it may not push either, so a
    // real lack of permission is an error of the push. Errors of the network do not mean that the tag is free.
    const isUnknown =
      error instanceof CommandError && /manifest unknown|name unknown|not found|denied/i.test(error.output);
    if (isUnknown) return undefined;
    throw error;
  }
}

function publishPackage(file: string, tag: string): void {
  // In GitHub Actions npm proves with the token of the job which workflow built the package.
  const provenance = process.env['GITHUB_ACTIONS'] === 'true' ? ['--provenance'] : [];
  run('npm', ['publish', '--ignore-scripts', '--access=public', ...provenance, `--tag=${tag}`, file]);
  report(`${PACKAGE} as ${tag}`);
}

function pushImage(folder: string, reference: string): void {
  const options = ['--all', '--preserve-digests', ...tlsVerify('dest-tls-verify')];
  run('skopeo', ['copy', ...options, `dir:${folder}`, `docker://${reference}`]);
  report(reference);
}

/** Helm adds the name and the version of the chart. */
function pushChart(file: string): void {
  const options = INSECURE ? ['--plain-http'] : [];
  run('helm', ['push', ...options, file, `oci://${dirname(CHART_REPOSITORY)}`]);
  report(CHART_REPOSITORY);
}

/** `gh` attaches the files to a draft, and publishes it when it has all of them. A draft that is left over is replaced. */
function publishRelease(
  tag: string,
  { text, suffix }: Version,
  newest: boolean,
  { assets, notes }: ReturnType<typeof releaseFiles>,
): void {
  const state = releaseState(tag);
  if (state === 'published') {
    report(`${tag} is published`);
    return;
  }
  if (state === 'draft') run('gh', ['release', 'delete', tag, '--yes']);
  const files = readdirSync(assets).map((file) => join(assets, file));
  run('gh', [
    ...['release', 'create', tag, '--verify-tag', '--title', text, '--notes-file', notes],
    ...[`--prerelease=${suffix !== undefined}`, `--latest=${newest}`],
    ...files,
  ]);
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
