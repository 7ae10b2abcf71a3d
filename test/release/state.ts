import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../scripts/release/release.ts';

export interface Places {
  /** Addresses of the registries, without the proxies. */
  readonly npm: string;
  readonly images: string;
  /** Where the registries and the stand-in of GitHub keep their data. */
  readonly npmFolder: string;
  readonly imagesFolder: string;
  readonly ghFolder: string;
}

const NAME = 'telemetry-station-exporter';
const IMAGE = `project/${NAME}`;
const CHART = `project/charts/${NAME}`;

/** What a user sees: versions, tags with their digests, releases. */
export interface Published {
  readonly versions: readonly string[];
  readonly distTags: Readonly<Record<string, string>>;
  readonly imageTags: Readonly<Record<string, string>>;
  readonly chartTags: Readonly<Record<string, string>>;
  /** Each with `draft`, or the number of its files. */
  readonly releases: Readonly<Record<string, string>>;
  readonly latestRelease: string | undefined;
}

export async function published({ npm, images, ghFolder }: Places): Promise<Published> {
  const reply = await fetch(`${npm}/${NAME}`);
  const { versions = {}, 'dist-tags': distTags = {} } = reply.ok
    ? ((await reply.json()) as Readonly<Record<string, Readonly<Record<string, string>>>>)
    : {};
  const folders = existsSync(ghFolder) ? readdirSync(ghFolder).toSorted() : [];
  const releases = folders.map((tag) => {
    const state = JSON.parse(readFileSync(join(ghFolder, tag, 'release.json'), 'utf8'));
    const files = readdirSync(join(ghFolder, tag, 'assets')).length;
    return { tag, latest: state.latest, text: state.isDraft ? 'draft' : `${files} files` };
  });
  return {
    versions: Object.keys(versions).toSorted(),
    distTags: sorted(distTags),
    imageTags: await tagsOf(images, IMAGE),
    chartTags: await tagsOf(images, CHART),
    releases: Object.fromEntries(releases.map(({ tag, text }) => [tag, text])),
    latestRelease: releases.findLast(({ latest }) => latest)?.tag,
  };
}

/** Whether the registry has a manifest of this digest, with or without a tag. */
export async function hasDigest({ images }: Places, kind: 'image' | 'chart', digest: string): Promise<boolean> {
  const repository = kind === 'image' ? IMAGE : CHART;
  const reply = await fetch(`${images}/v2/${repository}/manifests/${digest}`, { headers: { accept: ACCEPT } });
  await reply.body?.cancel();
  return reply.ok;
}

const ACCEPT = [
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
].join(', ');

async function tagsOf(images: string, repository: string): Promise<Readonly<Record<string, string>>> {
  const reply = await fetch(`${images}/v2/${repository}/tags/list`);
  const { tags } = (reply.ok ? await reply.json() : {}) as { readonly tags?: readonly string[] | null };
  const entries = (tags ?? []).map(async (tag) => {
    const manifest = await fetch(`${images}/v2/${repository}/manifests/${tag}`, { headers: { accept: ACCEPT } });
    return [tag, `sha256:${sha256(Buffer.from(await manifest.arrayBuffer()))}`];
  });
  return sorted(Object.fromEntries(await Promise.all(entries)));
}

function sorted(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** As before the first publication. */
export function reset({ npmFolder, imagesFolder, ghFolder }: Places): void {
  rmSync(join(npmFolder, NAME), { recursive: true, force: true });
  rmSync(join(imagesFolder, 'docker/registry/v2/repositories/project'), { recursive: true, force: true });
  rmSync(ghFolder, { recursive: true, force: true });
}
