import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BaseImage } from './base-images.ts';
import { INSECURE, PLATFORMS, sha256 } from './release.ts';
import { run } from './run.ts';

interface Image {
  readonly digest: string;
  readonly platforms: readonly string[];
  readonly bases: readonly string[];
}

export interface ImageOptions {
  readonly source: string;
  readonly bases: readonly BaseImage[];
  readonly folder: string;
  readonly version: string;
  readonly revision: string;
  /** Seconds since 1970 that every file and the image itself are dated: the same source gives the same digest. */
  readonly epoch: number;
}

/** Builds the image for all platforms into a folder. Nothing runs on another platform than this one, so nothing is emulated. */
export function buildImage(options: ImageOptions): Image {
  mkdirSync(options.folder);
  const manifests = PLATFORMS.map((platform) => {
    const [os = '', architecture = ''] = platform.split('/');
    return { ...buildPlatform(options, platform), platform: { architecture, os } };
  });
  writeFileSync(join(options.folder, 'version'), 'Directory Transport Version: 1.1\n');
  const list = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests };
  writeFileSync(join(options.folder, 'manifest.json'), JSON.stringify(list));
  return {
    digest: digestOfFolder(options.folder),
    platforms: PLATFORMS,
    bases: options.bases.map(({ reference = '' }) => reference),
  };
}

/**
 * One platform: the layers of the base image as they are, and those that the build adds. buildah writes the id and the host name of its
 * container into the configuration, and compresses as its version does: both are left out, so that the same source gives the same image.
 */
function buildPlatform(options: ImageOptions, platform: string): Descriptor {
  const work = mkdtempSync(join(tmpdir(), 'image-'));
  const runtime = baseOf(options, 'RUNTIME_IMAGE');
  const [os, architecture] = platform.split('/');
  const reference = ofPlatform(runtime.reference, platform);
  run('skopeo', ['copy', ...tlsVerify('src-tls-verify'), `docker://${reference}`, `dir:${work}/base`]);
  runBuildah(options, platform, `dir:${work}/image`);
  const base = readImage(join(work, 'base'));
  const image = readImage(join(work, 'image'));
  const shared = base.config.rootfs.diff_ids.length;
  if (JSON.stringify(image.config.rootfs.diff_ids.slice(0, shared)) !== JSON.stringify(base.config.rootfs.diff_ids)) {
    throw new Error(`${platform}: expected the layers of ${runtime.reference} at the beginning of the image`);
  }
  const store = (content: string | Buffer, mediaType: string, suffix = ''): Descriptor => {
    writeFileSync(join(options.folder, `${sha256(content)}${suffix}`), content);
    return { mediaType, digest: `sha256:${sha256(content)}`, size: Buffer.byteLength(content) };
  };
  const layers = [
    ...base.layers.map(({ file, mediaType }) => store(readFileSync(file), mediaType.replace(...DOCKER_LAYER))),
    ...image.layers
      .slice(shared)
      .map(({ file }) => store(gzipSync(uncompressed(readFileSync(file)), { level: 9 }), LAYER)),
  ];
  const { created, config, rootfs } = image.config;
  const entries = rootfs.diff_ids.slice(shared).map(() => ({ created, created_by: 'scripts/release/image.ts' }));
  const history = [...(base.config.history ?? []), ...entries];
  const fields = Object.entries(config).filter(([key]) => CONFIGURED.includes(key));
  const configuration = { created, architecture, os, config: Object.fromEntries(fields), rootfs, history };
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: store(JSON.stringify(configuration), 'application/vnd.oci.image.config.v1+json'),
    layers,
  };
  rmSync(work, { recursive: true });
  return store(JSON.stringify(manifest), MANIFEST, '.manifest.json');
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const DOCKER_LAYER = ['application/vnd.docker.image.rootfs.diff.tar.gzip', LAYER] as const;
/** What the Dockerfile sets, and nothing of the container that buildah used. */
const CONFIGURED: readonly string[] = [
  'User',
  'ExposedPorts',
  'Env',
  'Entrypoint',
  'Cmd',
  'Healthcheck',
  'WorkingDir',
  'Labels',
];

function runBuildah(options: ImageOptions, platform: string, destination: string): void {
  const { source, version, revision, epoch } = options;
  const name = `localhost/telemetry-station-exporter:${version}`;
  const native = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const runtime = baseOf(options, 'RUNTIME_IMAGE');
  const labels = {
    created: new Date(epoch * 1000).toISOString(),
    'base.name': runtime.image,
    'base.digest': runtime.reference.split('@')[1] ?? '',
  };
  run(
    'buildah',
    [
      'build',
      ...['--isolation=chroot', '--network=host', '--format=docker', '--no-cache', '--identity-label=false'],
      ...tlsVerify('tls-verify'),
      `--timestamp=${epoch}`,
      `--platform=${platform}`,
      `--tag=${name}`,
      `--build-arg=BUILDPLATFORM=${native}`,
      `--build-arg=VERSION=${version}`,
      `--build-arg=REVISION=${revision}`,
      `--build-arg=BUILD_IMAGE=${ofPlatform(baseOf(options, 'BUILD_IMAGE').reference, native)}`,
      `--build-arg=RUNTIME_IMAGE=${ofPlatform(runtime.reference, platform)}`,
      ...Object.entries(labels).map(([key, value]) => `--label=org.opencontainers.image.${key}=${value}`),
      '--file=Dockerfile',
      '.',
    ],
    { cwd: source },
  );
  run('buildah', ['push', name, destination]);
  run('buildah', ['rmi', '--force', name]);
}

function baseOf({ bases }: ImageOptions, name: string) {
  const { image, reference } = bases.find(({ argument }) => argument === name) ?? {};
  if (image === undefined || reference === undefined) {
    throw new Error(`Dockerfile: expected an argument ${name} with a digest`);
  }
  return { image, reference };
}

/** The image of a platform in a list, by its own digest: buildah takes whichever it has of the list's. */
function ofPlatform(reference: string, platform: string): string {
  const raw = run('skopeo', ['inspect', '--raw', ...tlsVerify('tls-verify'), `docker://${reference}`]);
  const { manifests } = JSON.parse(raw) as {
    readonly manifests?: readonly { readonly digest: string; readonly platform: Readonly<Record<string, string>> }[];
  };
  if (manifests === undefined) return reference;
  const found = manifests.find(({ platform: { os, architecture } }) => `${os}/${architecture}` === platform);
  if (!found) throw new Error(`${reference}: no image for ${platform}`);
  return `${reference.split('@')[0]}@${found.digest}`;
}

interface Configuration {
  readonly created: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly rootfs: { readonly type: string; readonly diff_ids: readonly string[] };
  readonly history?: readonly object[];
}

/** The configuration and the layers of an image that skopeo or buildah wrote into a folder. */
function readImage(folder: string) {
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const file = ({ digest }: Descriptor) => digest.slice('sha256:'.length);
  const manifest = read('manifest.json') as { readonly config: Descriptor; readonly layers: readonly Descriptor[] };
  const layers = manifest.layers.map((layer) => ({ file: join(folder, file(layer)), mediaType: layer.mediaType }));
  return { config: read(file(manifest.config)) as Configuration, layers };
}

function uncompressed(layer: Buffer): Buffer {
  return layer[0] === 0x1f && layer[1] === 0x8b ? gunzipSync(layer) : layer;
}

/** The digest that a tag has now, or that a reference by digest names. */
export function digestOfImage(image: string): string {
  return `sha256:${sha256(run('skopeo', ['inspect', '--raw', ...tlsVerify('tls-verify'), `docker://${image}`]))}`;
}

export function digestOfFolder(folder: string): string {
  return `sha256:${sha256(readFileSync(join(folder, 'manifest.json')))}`;
}

/** The option that accepts a registry without TLS, in a rehearsal. */
export function tlsVerify(option: string): readonly string[] {
  return INSECURE ? [`--${option}=false`] : [];
}
