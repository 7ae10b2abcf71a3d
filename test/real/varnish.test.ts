import { expect } from 'vitest';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { startThrough } from './support/through.ts';
import { startTool } from './support/tool.ts';
import { describeWorlds, type Tool } from './support/worlds.ts';

const VARNISH: Tool = { command: 'varnishd', from: 'Debian package varnish' };

/** Varnish with its default VCL. */
async function startVarnish({ url }: Pick<SimulatedService, 'url'>) {
  return startTool(VARNISH, {
    files: {},
    flags: (folder, address) => [
      '-F',
      ...['-a', address],
      ...['-b', new URL(url).host],
      ...['-n', `${folder}/varnish`],
      ...['-s', 'malloc,16m'],
      // Its own user could not read the temporary folder.
      ...['-j', 'none'],
    ],
  });
}

const API_KEY = { upstream: { http_headers: { 'X-Api-Key': { secrets: ['key-of-the-exporter'] } } } };

/** On scrapes, with a change before each, until the page of the station says that a cache answered with what is seconds old. */
async function followed(start: (service: SimulatedService) => Promise<string>): Promise<string[]> {
  const world = await startThrough(start, API_KEY);
  const verdicts: string[] = [];
  const isOld = async () => {
    world.truth.change();
    verdicts.push(...(await world.scraped()));
    return world.cacheNote();
  };
  await expect.poll(isOld, { interval: 250 }).toMatch(/\(Age: [3-9] s\)/);
  return verdicts;
}

describeWorlds(
  'Varnish',
  [VARNISH],
  [
    {
      world: 'default values, credentials in X-Api-Key',
      promise: 'no number is older than published, and the cache is named',
      publishes: /^true$/,
      run: () => followed(async (service) => (await startVarnish(service)).url),
    },
    {
      world: 'two of them, one behind the other, credentials in X-Api-Key',
      promise: 'no number is older than published, and the cache is named',
      publishes: /^true$/,
      run: () => followed(async (service) => (await startVarnish(await startVarnish(service))).url),
    },
    {
      world: 'default values, credentials in Authorization',
      promise: 'every number is true',
      publishes: /^true$/,
      run: async () => {
        const upstream = { authorization: { credentials: 'token-of-the-exporter' } };
        const world = await startThrough(async (service) => (await startVarnish(service)).url, { upstream });
        return world.follow(5);
      },
    },
  ],
);
