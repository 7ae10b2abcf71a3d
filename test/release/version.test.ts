import { readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { baseImages } from '../../scripts/release/base-images.ts';
import { releaseNotes } from '../../scripts/release/changelog.ts';
import { distTag, isNewest, parseVersion } from '../../scripts/release/version.ts';
import { versionProblems, writeBaseDigests, writeVersion } from '../../scripts/release/versioned-files.ts';
import { root } from '../docs/markdown.ts';
import { temporaryFile } from '../service/support/files.ts';

describe('parseVersion', () => {
  it.each(['1.2', 'v1.2.3', '1.2.3.4', '01.2.3', '1.2.3-', '1.2.3+build', 'latest', ''])('rejects %j', (text) => {
    expect(() => parseVersion(text)).toThrow('expected a form like 1.2.3 or 1.2.3-rc.1');
  });
});

describe('the tag of a version', () => {
  it.each([
    { version: '0.1.0', published: [], tag: 'latest' },
    { version: '0.1.0', published: ['0.0.0', '0.1.0'], tag: 'latest' },
    { version: '0.10.0', published: ['0.9.0'], tag: 'latest' },
    { version: '1.0.0', published: ['0.9.9', '2.0.0-rc.1'], tag: 'latest' },
    { version: '0.1.1', published: ['0.1.0', '0.2.0'], tag: 'release-0.1' },
    { version: '0.2.0-rc.1', published: ['0.1.0'], tag: 'next' },
    { version: '0.2.0-rc.1', published: [], tag: 'next' },
  ])('of $version after $published is $tag', ({ version, published, tag }) => {
    expect(distTag(parseVersion(version), published)).toBe(tag);
    expect(isNewest(parseVersion(version), published)).toBe(tag === 'latest');
  });
});

const CHANGELOG = `# Changelog

## 0.2.0 / unreleased

* [CHANGE] Not yet.

## 0.1.1 / 2026-02-03

## 0.1.0 / 2026-01-31

First release.

* [FEATURE] Metrics.
* [BUGFIX] A repair.
`;

describe('releaseNotes', () => {
  it('are the section of the version', () => {
    expect(releaseNotes(CHANGELOG, '0.1.0')).toBe('First release.\n\n* [FEATURE] Metrics.\n* [BUGFIX] A repair.\n');
  });

  it.each([
    { version: '0.2.0', problem: 'expected a day like 2026-01-31 in "## 0.2.0 / unreleased"' },
    { version: '0.1.1', problem: 'the section of 0.1.1 is empty' },
    { version: '0.1', problem: 'expected a section "## 0.1 / …"' },
  ])('fail for $version: $problem', ({ version, problem }) => {
    expect(() => releaseNotes(CHANGELOG, version)).toThrow(problem);
  });
});

describe('baseImages', () => {
  it.each([
    { image: 'localhost:5000/node:24@sha256:ab', reference: 'localhost:5000/node@sha256:ab' },
    { image: 'localhost:5000/node@sha256:ab', reference: 'localhost:5000/node@sha256:ab' },
    { image: 'localhost:5000/node:24', reference: undefined },
  ])('refer to $image by digest alone', ({ image, reference }) => {
    expect(baseImages(`ARG A_IMAGE=${image}\nFROM $A_IMAGE\n`)[0]?.reference).toBe(reference);
  });
});

describe('the files that name the version', () => {
  const FILES = [
    'package.json',
    'package-lock.json',
    'deploy/helm/telemetry-station-exporter/Chart.yaml',
    'deploy/kubernetes/kustomization.yaml',
    'README.md',
    'README.zh-CN.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'Dockerfile',
  ];

  /** A copy that is released as 7.8.9, on base images of the digest sha256:1. */
  async function prepared(): Promise<string> {
    const folder = dirname(temporaryFile('x', ''));
    for (const file of FILES) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await cp(join(root, file), join(folder, file));
    }
    const changelog = join(folder, 'CHANGELOG.md');
    const text = readFileSync(changelog, 'utf8');
    writeFileSync(
      changelog,
      text.replace('# Changelog\n', '# Changelog\n\n## 7.8.9 / unreleased\n\n* [CHANGE] All.\n'),
    );
    writeVersion(folder, '7.8.9', '2026-01-31');
    writeBaseDigests(folder, () => 'sha256:1');
    return folder;
  }

  it('name one version', () => {
    const problems = versionProblems(root, packageJson.version);
    expect(problems.filter((problem) => problem.includes('expected version'))).toEqual([]);
  });

  it('are changed together, and refused as another version', async () => {
    const folder = await prepared();
    expect(versionProblems(folder, '7.8.9')).toEqual([]);
    expect(versionProblems(folder, '7.9.0')).toContain('package.json: expected version 7.9.0, got 7.8.9');
    expect(versionProblems(folder, '7.9.0')).toHaveLength(9);
  });

  it('do not say in a release that nothing is published', async () => {
    const folder = await prepared();
    const readme = join(folder, 'README.md');
    const released = readFileSync(readme, 'utf8');
    expect(released).not.toContain('Nothing is published yet');
    const unreleased = '<!-- unreleased -->\n**Nothing is published yet**.\n<!-- /unreleased -->\n\n';
    writeFileSync(readme, released.replace('## Install\n\n', `$&${unreleased}`));
    expect(versionProblems(folder, '7.8.9')).toEqual(['README.md: expected nothing marked <!-- unreleased -->']);
    writeVersion(folder, '7.8.9', '2026-01-31');
    expect(readFileSync(readme, 'utf8')).toBe(released);
  });

  it('have base images with tag and digest, which the next release replaces', async () => {
    const folder = await prepared();
    const lines = () => readFileSync(join(folder, 'Dockerfile'), 'utf8').match(/^ARG \w+_IMAGE=.*/gm);
    const before = lines();
    writeBaseDigests(folder, () => 'sha256:2');
    expect(before).toHaveLength(2);
    expect(lines()).toEqual(before?.map((line) => line.replace('@sha256:1', '@sha256:2')));
  });

  it('are refused with base images that have no digest', async () => {
    const folder = await prepared();
    const dockerfile = join(folder, 'Dockerfile');
    writeFileSync(dockerfile, readFileSync(dockerfile, 'utf8').replaceAll('@sha256:1', ''));
    expect(versionProblems(folder, '7.8.9')).toEqual([
      expect.stringMatching(/^Dockerfile: expected a digest in BUILD_IMAGE, got .*:/),
      expect.stringMatching(/^Dockerfile: expected a digest in RUNTIME_IMAGE, got .*:/),
    ]);
  });
});
