import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { artifactHubChanges } from './changelog.ts';
import { digestOfFolder } from './image.ts';
import { IMAGE_REPOSITORY, PLATFORMS, sha256 } from './release.ts';
import { run } from './run.ts';

export interface ChartOptions {
  readonly source: string;
  /** The packaged chart, a file. */
  readonly file: string;
  /** The chart as an OCI artefact, a folder that skopeo reads. */
  readonly folder: string;
  readonly version: string;
  readonly notes: string;
  readonly created: string;
}

/** Packages the chart, with the annotations that only a release knows, and makes the artefact that `helm pull` expects. */
export function packageChart({ source, file, folder, version, notes, created }: ChartOptions): string {
  const work = mkdtempSync(join(tmpdir(), 'chart-'));
  const chart = join(work, 'telemetry-station-exporter');
  cpSync(join(source, 'deploy/helm/telemetry-station-exporter'), chart, { recursive: true });
  const definition = annotated(readFileSync(join(chart, 'Chart.yaml'), 'utf8'), version, notes);
  writeFileSync(join(chart, 'Chart.yaml'), stringify(definition));
  // As `helm package` does, which dates the files by the clock.
  archive(work, ['--exclude-from', join(chart, '.helmignore'), 'telemetry-station-exporter'], file, created);
  // Helm stores the definition of a chart as JSON.
  writeArtefact(folder, readFileSync(file), JSON.stringify(definition), created);
  rmSync(work, { recursive: true });
  return digestOfFolder(folder);
}

/** Artifact Hub reads these annotations: https://artifacthub.io/docs/topics/annotations/helm/ */
function annotated(definition: string, version: string, notes: string): object {
  const chart = parse(definition);
  const image = { name: 'telemetry-station-exporter', image: `${IMAGE_REPOSITORY}:${version}` };
  const added = {
    'artifacthub.io/prerelease': String(version.includes('-')),
    'artifacthub.io/images': stringify([{ ...image, platforms: PLATFORMS }]),
    'artifacthub.io/changes': stringify(artifactHubChanges(notes)),
  };
  return { ...chart, annotations: { ...chart.annotations, ...added } };
}

/** Files in an archive that depends on their contents alone. */
export function archive(folder: string, files: readonly string[], file: string, created: string): void {
  run('tar', [
    ...['--create', '--sort=name', `--mtime=${created}`, '--owner=0', '--group=0', '--numeric-owner'],
    ...['--mode=u=rwX,go=rX', '--use-compress-program=gzip --no-name -9', '--file', file, '--directory', folder],
    ...files,
  ]);
}

/** An OCI image manifest with the media types of Helm, in the layout that skopeo calls `dir:`. */
function writeArtefact(folder: string, content: Buffer, config: string, created: string): void {
  mkdirSync(folder, { recursive: true });
  const blob = (data: string | Buffer, mediaType: string) => {
    writeFileSync(join(folder, sha256(data)), data);
    return { mediaType, digest: `sha256:${sha256(data)}`, size: Buffer.byteLength(data) };
  };
  const { name, version, description, home } = JSON.parse(config) as Readonly<Record<string, string>>;
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: blob(config, 'application/vnd.cncf.helm.config.v1+json'),
    layers: [blob(content, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip')],
    annotations: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.source': home,
      'org.opencontainers.image.created': created,
    },
  };
  writeFileSync(join(folder, 'version'), 'Directory Transport Version: 1.1\n');
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
}
