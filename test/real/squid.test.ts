import { readFileSync } from 'node:fs';
import { issue } from '../service/support/certificates.ts';
import { temporaryFile } from '../service/support/files.ts';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { startThrough } from './support/through.ts';
import { startTool } from './support/tool.ts';
import { describeWorlds, type Tool } from './support/worlds.ts';

const SQUID: Tool = { command: 'squid', from: 'Debian package squid' };

/** squid with the configuration of its package, on another port. `rules` precede those of the package. */
async function startSquid(rules = '', { address }: { readonly address?: string } = {}) {
  const shipped = readFileSync('/etc/squid/squid.conf', 'utf8');
  const own = [
    'pid_filename none',
    'cache_log /dev/stderr',
    'access_log none',
    'shutdown_lifetime 0 seconds',
    'visible_hostname squid',
  ];
  const config = `${rules}\n${shipped.replace(/^http_port .*$/m, 'http_port ADDRESS')}\n${own.join('\n')}\n`;
  return startTool(SQUID, {
    files: { 'squid.conf': config },
    flags: (folder, listenAddress) => ['-N', '-f', `${folder}/squid.conf`, '-n', `squid${listenAddress.split(':')[1]}`],
    address,
  });
}

const TRUE = { promise: 'every number is true', publishes: /^true$/ };

/** The service directly, to which the exporter goes through squid. */
const direct = async ({ url }: SimulatedService) => url;

const authority = issue({ name: 'authority' });
const { cert, key } = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'] });
const trust = () => ({ tls_config: { ca_file: temporaryFile('ca.pem', authority.cert) } });
const TLS = { tls: { cert, key } };

describeWorlds(
  'squid',
  [SQUID],
  [
    {
      world: 'CONNECT to the port of an https service is allowed',
      ...TRUE,
      run: async () => {
        const world = await startThrough(direct, {
          service: TLS,
          upstream: { proxy_url: (await startSquid('http_access allow CONNECT')).url, ...trust() },
        });
        return world.follow(5);
      },
    },
    {
      world: 'default rules, an https service on another port than 443',
      promise: 'down: network, and the rule is named',
      publishes: /^(down: network|told)$/,
      run: async () => {
        const { url } = await startSquid();
        const world = await startThrough(direct, { service: TLS, upstream: { proxy_url: url, ...trust() } });
        return world.told(/proxy .* did not open a tunnel.*403, allow/);
      },
    },
    {
      world: 'a user is required, http service',
      promise: 'down, and proxy_url is named',
      publishes: /^(down: (network|status)|told)$/,
      run: async () => {
        const program = '/usr/lib/squid/basic_fake_auth';
        const { url } = await startSquid(
          `auth_param basic program ${program}\nacl known proxy_auth REQUIRED\nhttp_access deny !known`,
        );
        const world = await startThrough(direct, { upstream: { proxy_url: url } });
        return world.told(/user and password in proxy_url/);
      },
    },
  ],
);
