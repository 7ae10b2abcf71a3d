/**
 * Builds everything that a release publishes, from a tag, into a new folder; publishes nothing.
 *   node scripts/release/build.ts TAG FOLDER
 * Needs git, tar, npm, buildah, skopeo and helm. The same tag gives the same package, and an image of the same layers.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baseImages } from './base-images.ts';
import { releaseNotes } from './changelog.ts';
import { buildImage, digestOfImageFolder } from './image.ts';
import { digestOfFile, IMAGE_REPOSITORY, PACKAGE, releaseFiles } from './release.ts';
import { main, report, run } from './run.ts';
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
  // The files of the tag alone, whatever else the checkout has.
  const archive = join(source, 'source.tar');
  run('git', ['archive', '--output', archive, revision]);
  run('tar', ['--extract', '--file', archive], { cwd: source });
  const problems = versionProblems(source, version);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  report(`revision ${revision}`);

  const files = releaseFiles(folder, version);
  mkdirSync(folder);
  mkdirSync(files.assets);

  report('== package');
  run('npm', ['ci', '--ignore-scripts'], { cwd: source });
  run('npm', ['run', 'build'], { cwd: source });
  // `--version` prints it.
  writeFileSync(join(source, 'REVISION'), `${revision}\n`);
  // npm packs every README, and may show any of them as the page of the package.
  rmSync(join(source, 'README.zh-CN.md'));
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', files.assets], { cwd: source });

  report('== image');
  const bases = baseImages(readFileSync(join(source, 'Dockerfile'), 'utf8'));
  for (const { line } of bases) report(line);
  buildImage({ source, bases, folder: files.image, version, revision, epoch });

  report('== chart');
  run('helm', ['package', `deploy/helm/${PACKAGE}`, '--destination', source], { cwd: source });
  // The package has the same name.
  copyFileSync(join(source, `${PACKAGE}-${version}.tgz`), files.chart);

  report('== SBOM');
  // Not with `--omit=dev`, which also omits what both the exporter and a tool need. The lock file has the binaries of all platforms.
  run('npm', ['pkg', 'delete', 'devDependencies'], { cwd: source });
  run('npm', ['install', '--ignore-scripts', '--package-lock-only'], { cwd: source });
  const sbom = run('npm', ['sbom', '--sbom-format=spdx', '--package-lock-only'], { cwd: source });
  writeFileSync(join(files.assets, 'sbom.spdx.json'), sbom);

  report('== rules, dashboards, notes');
  copyFileSync(join(source, 'prometheus/rules.yml'), join(files.assets, 'rules.yml'));
  run('git', ['archive', '--output', join(files.assets, 'dashboards.tar.gz'), revision, 'grafana/dashboards/*.json']);
  writeFileSync(files.notes, releaseNotes(readFileSync(join(source, 'CHANGELOG.md'), 'utf8'), version));

  const sums = readdirSync(files.assets).map((name) => checksum(digestOfFile(join(files.assets, name)), name));
  sums.push(checksum(digestOfImageFolder(files.image), IMAGE_REPOSITORY));
  writeFileSync(files.checksums, sums.join(''));
  report(sums.join(''));
}

/** A line as `sha256sum` prints it. */
function checksum(digest: string, name: string): string {
  return `${digest.replace('sha256:', '')}  ${name}\n`;
}
