import { readFileSync } from 'node:fs';
import { issue } from '../service/support/certificates.ts';
import { temporaryFile } from '../service/support/files.ts';
import type { ServiceOptions, SimulatedService } from '../simulator/simulated-service.ts';
import { startThrough } from './support/through.ts';
import { startTool } from './support/tool.ts';
import { describeWorlds, type Tool } from './support/worlds.ts';

const SQUID: Tool = { command: 'squid', from: 'Debian package squid' };

/** Precede the rules of the package. */
const rulesOf = ({ port }: URL, ...rules: readonly string[]) => [`acl SSL_ports port ${port}`, ...rules];

const REQUIRED_USER = [
  'auth_param basic program /usr/lib/squid/basic_fake_auth',
  'acl known proxy_auth REQUIRED',
  'http_access deny !known',
];

/** squid with the configuration of its package, on another port and with these rules before. */
async function startSquid(rules: readonly string[], address?: string) {
  const shipped = readFileSync('/etc/squid/squid.conf', 'utf8').replace(/^http_port .*$/m, 'http_port ADDRESS');
  const files = ['pid_filename none', 'cache_log /dev/stderr', 'access_log none', 'visible_hostname squid'];
  return startTool(SQUID, {
    files: { 'squid.conf': [...rules, shipped, ...files, 'shutdown_lifetime 0 seconds', ''].join('\n') },
    flags: (folder, listenAddress) => ['-N', '-f', `${folder}/squid.conf`, '-n', `squid${listenAddress.split(':')[1]}`],
    address,
  });
}

interface BehindSquid {
  readonly rules: (service: URL) => readonly string[];
  readonly user?: string;
  readonly service?: ServiceOptions;
  readonly upstream?: object;
}

/** The exporter, which reaches the service through squid. */
async function startBehindSquid({ rules, user = '', ...options }: BehindSquid) {
  let squid: Awaited<ReturnType<typeof startSquid>> | undefined;
  const upstream = { ...options.upstream, proxy_url: '' };
  const start = async ({ url }: SimulatedService) => {
    squid = await startSquid(rules(new URL(url)));
    upstream.proxy_url = squid.url.replace('//', `//${user}`);
    return url;
  };
  const world = await startThrough(start, { ...options, upstream });
  return {
    ...world,
    stopSquid: () => squid?.stop(),
    startSquid: async () => {
      squid = await startSquid(rules(new URL(world.service.url)), squid?.address);
    },
  };
}

const NO_LOSS = { promise: 'no refresh is lost, and every number is true', publishes: /^true$/ };
const REFUSED = { promise: 'down: network, and the rule is named', publishes: /^(down: network|told)$/ };

function secured(): Pick<BehindSquid, 'service' | 'upstream'> {
  const authority = issue({ name: 'authority' });
  const { cert, key } = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'] });
  const tls_config = { ca_file: temporaryFile('ca.pem', authority.cert) };
  return { service: { tls: { cert, key } }, upstream: { tls_config } };
}

const NO_RULES = () => [];

describeWorlds(
  'squid',
  [SQUID],
  [
    {
      world: 'tunnels to the port of an http service are allowed',
      ...NO_LOSS,
      run: async () => (await startBehindSquid({ rules: rulesOf })).follow(3),
    },
    {
      world: 'tunnels to the port of an https service are allowed',
      ...NO_LOSS,
      run: async () => (await startBehindSquid({ rules: rulesOf, ...secured() })).follow(3),
    },
    {
      world: 'default rules, an http service on another port than 443',
      ...REFUSED,
      run: async () => (await startBehindSquid({ rules: NO_RULES })).told(/squid allows tunnels to port 443 only/),
    },
    {
      world: 'default rules, an https service on another port than 443',
      ...REFUSED,
      run: async () =>
        (await startBehindSquid({ rules: NO_RULES, ...secured() })).told(/squid allows tunnels to port 443 only/),
    },
    {
      world: 'a user is required',
      promise: 'down: network, and proxy_url is named',
      publishes: /^(down: network|told)$/,
      run: async () => {
        const rules = (service: URL) => rulesOf(service, ...REQUIRED_USER);
        return (await startBehindSquid({ rules })).told(/user and password in proxy_url/);
      },
    },
    {
      world: 'a user is required, and set',
      ...NO_LOSS,
      run: async () => {
        const rules = (service: URL) => rulesOf(service, ...REQUIRED_USER);
        return (await startBehindSquid({ rules, user: 'exporter:secret@' })).follow(3);
      },
    },
    {
      world: 'squid restarts for 1.5 s: connections are refused',
      ...NO_LOSS,
      run: async () => {
        const world = await startBehindSquid({ rules: rulesOf });
        return world.followThrough(2, world.stopSquid, world.startSquid);
      },
    },
    {
      world: 'the service restarts for 1.5 s: 503 for the tunnel',
      ...NO_LOSS,
      run: async () => {
        const world = await startBehindSquid({ rules: rulesOf });
        return world.followThrough(
          2,
          () => world.service.stop(),
          () => world.service.restart(),
        );
      },
    },
  ],
);
