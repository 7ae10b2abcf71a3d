import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { sha256 } from './release.ts';
import { run } from './run.ts';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  /** https://github.com/package-url/purl-spec */
  readonly purl: string;
}

export interface SbomOptions {
  /** The image as a folder that skopeo reads, and the platform whose contents are listed. */
  readonly folder: string;
  readonly platform: string;
  readonly image: string;
  readonly version: string;
  readonly created: string;
}

/** What the image contains, read from its layers rather than from what was meant to be in it, as SPDX 2.3. */
export function imageSbom({ folder, platform, image, version, created }: SbomOptions): string {
  const { digest, layers } = imageOf(folder, platform);
  const work = mkdtempSync(join(tmpdir(), 'sbom-'));
  for (const layer of layers) {
    run('tar', [
      ...['--extract', '--gzip', '--file', join(folder, layer), '--directory', work, '--wildcards'],
      ...['--no-same-owner', '--no-same-permissions', '--ignore-failed-read', '--warning=none'],
      ...['--exclude=dev/*', '*'],
    ]);
  }
  const architecture = platform.split('/')[1] ?? '';
  const components = [
    ...debianPackages(join(work, 'var/lib/dpkg/status.d'), architecture),
    nodeOf(join(work, 'nodejs/bin/node')),
    ...npmPackages(join(work, 'app')),
  ].toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
  run('chmod', ['-R', 'u+w', work]);
  rmSync(work, { recursive: true });
  const subject = { name: image, version, purl: `pkg:oci/telemetry-station-exporter@${digest}?arch=${architecture}` };
  return spdx(subject, components, `${digest}-${architecture}`, created);
}

interface Manifest {
  readonly manifests?: readonly {
    readonly digest: string;
    readonly platform: { readonly os: string; readonly architecture: string };
  }[];
  readonly layers?: readonly { readonly digest: string }[];
}

function imageOf(folder: string, platform: string) {
  const list = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const entry = list.manifests?.find(({ platform: { os, architecture } }) => `${os}/${architecture}` === platform);
  if (!entry) throw new Error(`${folder}: no image for ${platform}`);
  const hash = entry.digest.slice('sha256:'.length);
  const { layers = [] } = JSON.parse(readFileSync(join(folder, `${hash}.manifest.json`), 'utf8')) as Manifest;
  return { digest: entry.digest, layers: layers.map(({ digest }) => digest.slice('sha256:'.length)) };
}

/** Distroless images have a file for each package instead of one for all. */
function debianPackages(folder: string, architecture: string): readonly Component[] {
  return readdirSync(folder)
    .filter((file) => !file.endsWith('.md5sums'))
    .map((file) => {
      const control = readFileSync(join(folder, file), 'utf8');
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1] ?? '';
      const name = field('Package');
      const version = field('Version');
      return { name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}` };
    });
}

/** The binary contains the address of its source. */
function nodeOf(file: string): Component {
  const [, version] = /\/download\/release\/v([\d.]+)\//.exec(readFileSync(file, 'latin1')) ?? [];
  if (version === undefined) throw new Error(`${file}: no version of Node found`);
  return { name: 'node', version, license: 'MIT', purl: `pkg:generic/node@${version}` };
}

function npmPackages(folder: string): readonly Component[] {
  const manifests = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'package.json')
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    // Packages may have further files of this name inside.
    .filter((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  const components = manifests.map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, path), 'utf8'));
    const purl = `pkg:npm/${String(name).replace('@', '%40')}@${version}`;
    return { name, version, purl, ...(typeof license === 'string' && { license }) };
  });
  return [...new Map(components.map((component) => [component.purl, component])).values()];
}

function spdx(subject: Component, components: readonly Component[], id: string, created: string): string {
  const element = ({ name, version, license, purl }: Component) => ({
    SPDXID: `SPDXRef-${createHash('sha256').update(purl).digest('hex').slice(0, 16)}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: license !== undefined && /^[\w.+() -]+$/.test(license) ? license : 'NOASSERTION',
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  });
  const packages = [subject, ...components].map(element);
  const [image] = packages;
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${subject.name}:${subject.version}`,
    documentNamespace: `https://github.com/telemetry-station-exporter/telemetry-station-exporter/sbom/${sha256(id)}`,
    creationInfo: { created, creators: ['Tool: telemetry-station-exporter scripts/release'] },
    packages,
    relationships: packages.map(({ SPDXID }) => ({
      spdxElementId: SPDXID === image?.SPDXID ? 'SPDXRef-DOCUMENT' : image?.SPDXID,
      relationshipType: SPDXID === image?.SPDXID ? 'DESCRIBES' : 'CONTAINS',
      relatedSpdxElement: SPDXID,
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
