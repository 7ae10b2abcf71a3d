import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of what is published. Another repository, such as a fork or a rehearsal, sets the variables. */
export const IMAGE_REPOSITORY =
  process.env['IMAGE_REPOSITORY'] ?? 'ghcr.io/telemetry-station-exporter/telemetry-station-exporter';
export const CHART_REPOSITORY =
  process.env['CHART_REPOSITORY'] ?? 'ghcr.io/telemetry-station-exporter/charts/telemetry-station-exporter';
export const PACKAGE = 'telemetry-station-exporter';

/** Registries without TLS, as a rehearsal has them. */
export const INSECURE = process.env['INSECURE_REGISTRY'] === 'true';

/** What `build.ts` writes into its folder, and `publish.ts` reads. */
export function releaseFiles(folder: string, version: string) {
  const assets = join(folder, 'assets');
  return {
    /** The folder of everything that is attached to the release. */
    assets,
    package: join(assets, `${PACKAGE}-${version}.tgz`),
    chart: join(assets, `${PACKAGE}-chart-${version}.tgz`),
    /** Names and SHA-256 digests of everything that is published; the workflow attests them. */
    checksums: join(assets, 'SHA256SUMS'),
    /** A folder that skopeo reads (`dir:`). */
    image: join(folder, 'image'),
    notes: join(folder, 'notes.md'),
  };
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

export function digestOfFile(file: string): string {
  return `sha256:${sha256(readFileSync(file))}`;
}
