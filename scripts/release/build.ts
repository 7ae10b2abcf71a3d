/**
 * Builds everything that a release publishes, from a tag, into a new folder; publishes nothing.
 *   node scripts/release/build.ts TAG FOLDER
 * Needs the packages of `npm ci`, and git, tar, buildah and skopeo. The same tag gives the same bytes.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baseImages } from './base-images.ts';
import { releaseNotes } from './changelog.ts';
import { archive, packageChart } from './chart.ts';
import { buildImage } from './image.ts';
import {
  ASSETS,
  CHART_FOLDER,
  IMAGE_FOLDER,
  IMAGE_REPOSITORY,
  integrityOf,
  PACKAGE,
  type Release,
  writeRelease,
} from './release.ts';
import { main, report, run } from './run.ts';
import { imageSbom } from './sbom.ts';
import { parseVersion } from './version.ts';
import { versionProblems } from './versioned-files.ts';

main(() => {
  const [tag, folder] = process.argv.slice(2);
  if (tag === undefined || folder === undefined) throw new Error('usage: node scripts/release/build.ts TAG FOLDER');
  const source = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    build(tag, folder, source);
  } finally {
    rmSync(source, { recursive: true });
  }
});

function build(tag: string, folder: string, source: string): void {
  report(`== version: ${tag}`);
  const { text: version } = parseVersion(tag.replace(/^v/, ''));
  const revision = run('git', ['rev-parse', '--verify', `refs/tags/${tag}^{commit}`]).trim();
  const epoch = Number(run('git', ['log', '-1', '--format=%ct', revision]));
  const created = new Date(epoch * 1000).toISOString();
  // The files of the tag alone, whatever else the checkout has.
  run('git', ['archive', '--format=tar', '--output', join(source, 'source.tar'), revision]);
  run('tar', ['--extract', '--file', 'source.tar'], { cwd: source });
  rmSync(join(source, 'source.tar'));
  const problems = versionProblems(source, version);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const notes = releaseNotes(readFileSync(join(source, 'CHANGELOG.md'), 'utf8'), version);
  report(`revision ${revision}, ${created}`);

  report('== base images');
  const bases = baseImages(readFileSync(join(source, 'Dockerfile'), 'utf8'));
  for (const { line } of bases) report(line);

  const assets = join(folder, ASSETS);
  mkdirSync(folder);
  mkdirSync(assets);

  report('== package');
  const file = packPackage(source, assets, revision);
  const integrity = integrityOf(join(assets, file));
  report(`${file} ${integrity}`);

  report('== image');
  const image = buildImage({ source, bases, folder: join(folder, IMAGE_FOLDER), version, revision, epoch });
  report(`${image.platforms.join(' ')} ${image.digest}`);

  report('== chart');
  const chart = {
    digest: packageChart({
      source,
      file: join(assets, `${PACKAGE}-chart-${version}.tgz`),
      folder: join(folder, CHART_FOLDER),
      version,
      notes,
      created,
    }),
  };
  report(chart.digest);

  report('== SBOM');
  for (const platform of image.platforms) {
    const name = `sbom-${platform.replace('/', '-')}.spdx.json`;
    const text = imageSbom({ folder: join(folder, IMAGE_FOLDER), platform, image: IMAGE_REPOSITORY, version, created });
    writeFileSync(join(assets, name), text);
    report(`${name}: ${JSON.parse(text).packages.length - 1} packages`);
  }

  report('== rules, dashboards, notes');
  copyFileSync(join(source, 'prometheus/rules.yml'), join(assets, 'rules.yml'));
  archive(join(source, 'grafana'), ['--exclude=.*', 'dashboards'], join(assets, 'dashboards.tar.gz'), created);
  writeFileSync(join(folder, 'notes.md'), notes);

  const release: Release = { tag, version, revision, created, package: { file, integrity }, image, chart };
  writeRelease(folder, release);
  for (const name of readdirSync(assets)) report(name);
}

/** Packs the compiled sources with the revision, which `--version` prints. */
function packPackage(source: string, assets: string, revision: string): string {
  run('npm', ['ci', '--ignore-scripts'], { cwd: source });
  run('npm', ['run', 'build'], { cwd: source });
  writeFileSync(join(source, 'REVISION'), `${revision}\n`);
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', assets], { cwd: source });
  // The image is built from the sources, and has packages of its own.
  rmSync(join(source, 'node_modules'), { recursive: true });
  return readdirSync(assets).find((name) => name.endsWith('.tgz')) ?? '';
}
