import { basename, join } from 'node:path';
import type { BaseImage } from './base-images.ts';
import { digestOfFile, INSECURE, PACKAGE, sha256 } from './release.ts';
import { run } from './run.ts';

export interface ImageOptions {
  readonly source: string;
  readonly bases: readonly BaseImage[];
  readonly folder: string;
  readonly version: string;
  readonly revision: string;
  /** Seconds since 1970 that every file and the image itself are dated: the same source gives the same layers. */
  readonly epoch: number;
}

/** Those of the image's platforms, all of them with Linux. */
export const ARCHITECTURES: readonly string[] = ['amd64', 'arm64'];

/** Builds the image for all platforms into a folder. Nothing runs on another platform than this one, so nothing is emulated. */
export function buildImage({ source, bases, folder, version, revision, epoch }: ImageOptions): void {
  const name = `localhost/${PACKAGE}:${basename(source)}`;
  const { image: baseName, reference: base = '' } = runtimeImage(bases);
  const labels = {
    created: new Date(epoch * 1000).toISOString(),
    'base.name': baseName,
    'base.digest': base.split('@')[1],
  };
  run(
    'buildah',
    [
      'build',
      // The format of OCI has no health check.
      ...['--isolation=chroot', '--network=host', '--format=docker', ...tlsVerify('tls-verify')],
      `--platform=${ARCHITECTURES.map((architecture) => `linux/${architecture}`).join()}`,
      `--timestamp=${epoch}`,
      `--manifest=${name}`,
      `--build-arg=VERSION=${version}`,
      `--build-arg=REVISION=${revision}`,
      ...bases.map(({ argument, reference }) => `--build-arg=${argument}=${reference}`),
      ...Object.entries(labels).map(([key, value]) => `--label=org.opencontainers.image.${key}=${value}`),
      '.',
    ],
    { cwd: source },
  );
  // buildah writes the layers uncompressed. Compressed here, they have the digests that the registry will have.
  const uncompressed = join(source, 'image');
  run('buildah', ['manifest', 'push', '--all', '--rm', '--format=v2s2', name, `dir:${uncompressed}`]);
  run('skopeo', ['copy', '--all', '--dest-compress', `dir:${uncompressed}`, `dir:${folder}`]);
  // Some versions of buildah take the base image of another platform if they have it already.
  for (const architecture of ARCHITECTURES) {
    const baseLayers = layersOf(`docker://${base}`, architecture).join();
    if (!layersOf(`dir:${folder}`, architecture).join().startsWith(baseLayers)) {
      throw new Error(`${architecture}: expected the layers of ${base} at the beginning of the image`);
    }
  }
}

function runtimeImage(bases: readonly BaseImage[]): BaseImage {
  const found = bases.find(({ argument }) => argument === 'RUNTIME_IMAGE');
  if (found === undefined) throw new Error('Dockerfile: expected an argument RUNTIME_IMAGE');
  return found;
}

/** Digests of the layers, uncompressed, of the image for an architecture. */
export function layersOf(reference: string, architecture: string): readonly string[] {
  const inspect = [`--override-arch=${architecture}`, 'inspect', '--config', ...tlsVerify('tls-verify')];
  return JSON.parse(run('skopeo', [...inspect, reference])).rootfs.diff_ids;
}

export function digestOfImageFolder(folder: string): string {
  return digestOfFile(join(folder, 'manifest.json'));
}

/** The digest that a tag has now, or that a reference by digest names. */
export function digestOfImage(reference: string): string {
  return `sha256:${sha256(manifestOf(reference))}`;
}

/** The manifest of an image or a chart, as the registry has it. */
export function manifestOf(reference: string): string {
  return run('skopeo', ['inspect', '--raw', ...tlsVerify('tls-verify'), `docker://${reference}`]);
}

/** The option that accepts a registry without TLS, in a rehearsal. */
export function tlsVerify(option: string): readonly string[] {
  return INSECURE ? [`--${option}=false`] : [];
}
