import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of what is published. Another repository, such as a fork or a rehearsal, sets the variables. */
export const IMAGE_REPOSITORY =
  process.env['IMAGE_REPOSITORY'] ?? 'ghcr.io/telemetry-station-exporter/telemetry-station-exporter';
export const CHART_REPOSITORY =
  process.env['CHART_REPOSITORY'] ?? 'ghcr.io/telemetry-station-exporter/charts/telemetry-station-exporter';
export const PACKAGE = 'telemetry-station-exporter';
/** Platforms of the image. */
export const PLATFORMS: readonly string[] = ['linux/amd64', 'linux/arm64'];

/** Options of skopeo, buildah and helm for a registry without TLS, as a rehearsal has it. */
export const INSECURE = process.env['INSECURE_REGISTRY'] === 'true';

/** What `build.ts` writes into its folder, and `publish.ts` reads. */
export interface Release {
  readonly tag: string;
  readonly version: string;
  readonly revision: string;
  readonly package: { readonly file: string; readonly integrity: string };
  readonly image: {
    readonly digest: string;
    readonly platforms: readonly string[];
    /** The base images with the digests that their tags had. */
    readonly bases: readonly string[];
  };
  readonly chart: { readonly digest: string };
  readonly created: string;
}

const FILE = 'release.json';
/** Files that are attached to the release. */
export const ASSETS = 'assets';
/** The image and the chart as folders that skopeo reads (`dir:`). */
export const IMAGE_FOLDER = 'image';
export const CHART_FOLDER = 'chart';
/** Names and SHA-256 digests of everything that is published; the workflow attests them. */
export const CHECKSUMS = 'SHA256SUMS';

export function readRelease(folder: string): Release {
  return JSON.parse(readFileSync(join(folder, ASSETS, FILE), 'utf8')) as Release;
}

export function writeRelease(folder: string, release: Release): void {
  writeFileSync(join(folder, ASSETS, FILE), `${JSON.stringify(release, undefined, 2)}\n`);
  const files = readdirSync(join(folder, ASSETS)).filter((file) => file !== CHECKSUMS);
  const lines = [
    ...files.map((file) => `${sha256(readFileSync(join(folder, ASSETS, file)))}  ${file}`),
    `${release.image.digest.slice('sha256:'.length)}  ${IMAGE_REPOSITORY}`,
    `${release.chart.digest.slice('sha256:'.length)}  ${CHART_REPOSITORY}`,
  ];
  writeFileSync(join(folder, ASSETS, CHECKSUMS), `${lines.join('\n')}\n`);
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** As npm's registry writes it. */
export function integrityOf(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}
