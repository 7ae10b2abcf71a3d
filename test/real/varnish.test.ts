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

describeWorlds(
  'Varnish',
  [VARNISH],
  [
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
