import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseImages } from './base-images.ts';
import { releaseNotes } from './changelog.ts';

/** Every place that names the version of the project. The first one is the source of the others. */
const PLACES: readonly { readonly file: string; readonly pattern: RegExp }[] = [
  { file: 'package.json', pattern: /(?<=^ {2}"version": ")[^"]*/m },
  { file: 'package-lock.json', pattern: /(?<=^ {2}"version": ")[^"]*/m },
  { file: 'package-lock.json', pattern: /(?<=^ {6}"name": "telemetry-station-exporter",\n {6}"version": ")[^"]*/m },
  { file: 'deploy/helm/telemetry-station-exporter/Chart.yaml', pattern: /(?<=^version: ).*/m },
  { file: 'deploy/helm/telemetry-station-exporter/Chart.yaml', pattern: /(?<=^appVersion: ).*/m },
  { file: 'deploy/kubernetes/kustomization.yaml', pattern: /(?<=^ {4}newTag: ).*/m },
  { file: 'README.md', pattern: /(?<=^User-Agent: telemetry-station-exporter\/).*/m },
  { file: 'README.zh-CN.md', pattern: /(?<=^User-Agent: telemetry-station-exporter\/).*/m },
];

/** Files with sentences that are true only before the first release, such as "Nothing is published yet". */
const UNRELEASED_FILES = ['README.md', 'README.zh-CN.md', 'SECURITY.md'];
const UNRELEASED = /<!-- unreleased -->[\s\S]*?<!-- \/unreleased -->\s*/g;

/** What keeps the files in a folder from being released as a version. */
export function versionProblems(folder: string, version: string): readonly string[] {
  const problems: string[] = [];
  for (const file of UNRELEASED_FILES.filter((name) => read(folder, name).includes('<!-- unreleased -->'))) {
    problems.push(`${file}: expected nothing marked <!-- unreleased -->`);
  }
  for (const { argument, image, reference } of baseImages(read(folder, 'Dockerfile'))) {
    if (reference === undefined) problems.push(`Dockerfile: expected a digest in ${argument}, got ${image}`);
  }
  for (const { file, pattern } of PLACES) {
    const found = pattern.exec(read(folder, file))?.[0];
    if (found !== version) problems.push(`${file}: expected version ${version}, got ${found ?? 'none'}`);
  }
  try {
    releaseNotes(read(folder, 'CHANGELOG.md'), version);
  } catch (error) {
    problems.push((error as Error).message);
  }
  return problems;
}

/** Writes a version to every place, and the day of the release to its heading in the changelog; removes what is no longer true. */
export function writeVersion(folder: string, version: string, day: string): void {
  for (const { file, pattern } of PLACES) {
    writeFileSync(join(folder, file), read(folder, file).replace(pattern, version));
  }
  for (const file of UNRELEASED_FILES) {
    writeFileSync(join(folder, file), read(folder, file).replace(UNRELEASED, ''));
  }
  const changelog = read(folder, 'CHANGELOG.md');
  const heading = `## ${version} / `;
  if (!changelog.includes(`\n${heading}`)) throw new Error(`CHANGELOG.md: expected a section "${heading}…"`);
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog.replace(`\n${heading}unreleased\n`, `\n${heading}${day}\n`));
}

/** Writes the digests that the tags of the base images have now to the Dockerfile, so that the commit alone decides what is built. */
export function writeBaseDigests(folder: string, digestOf: (image: string) => string): void {
  let dockerfile = read(folder, 'Dockerfile');
  for (const { line, argument, image } of baseImages(dockerfile)) {
    dockerfile = dockerfile.replace(line, `ARG ${argument}=${image}@${digestOf(image)}`);
  }
  writeFileSync(join(folder, 'Dockerfile'), dockerfile);
}

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}
