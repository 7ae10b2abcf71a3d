import { closedPort } from '../service/support/service.ts';
import { startMatrix } from './support/matrix.ts';
import { NGINX, startNginx } from './support/nginx.ts';
import { describeMatrix, type MatrixRow } from './support/worlds.ts';

interface Row extends MatrixRow {
  /** Of the server; SERVICE is what a location passes to. */
  readonly server: string;
  readonly listen?: string;
  readonly upstream?: object;
  readonly station?: object;
  readonly told?: RegExp;
}

const PASS = 'location / { proxy_pass SERVICE; }';
const TRUE = { promise: 'true', publishes: /^true$/ };
const down = (reason: string, told: RegExp) => ({
  promise: `down: ${reason}, told ${told.source}`,
  publishes: new RegExp(`^(down: ${reason}|told)$`),
  told,
});

const ROWS: readonly Row[] = [
  { world: 'a path prefix', server: 'location /api/ { proxy_pass SERVICE/; }', upstream: { path: '/api' }, ...TRUE },
  {
    world: 'names with /',
    server: PASS,
    station: { resource_group: 'group/of/three', zone: 'a b%c' },
    ...TRUE,
  },
  {
    world: 'names with /, and nginx rewrites the path',
    server: 'location / { proxy_pass SERVICE/; }',
    station: { resource_group: 'group/of/three' },
    ...down('not_found', /does not know this station/),
  },
  {
    world: 'auth_basic: 401 with HTML',
    server: 'auth_basic all; auth_basic_user_file nginx.conf; location / { proxy_pass SERVICE; }',
    ...down('auth', /401/),
  },
  { world: 'deny: 403 with HTML', server: `deny all; ${PASS}`, ...down('forbidden', /proxy or (a )?firewall/) },
  { world: 'a redirect to a sign-in page', server: 'return 302 /login;', ...down('status', /location: .*\/login/) },
  {
    world: 'a sign-in page',
    server: `default_type text/html; return 200 '<html><title>Sign in to monitor</title></html>';`,
    ...down('body', /Sign in to monitor/),
  },
  { world: 'an empty body', server: 'return 200;', ...down('body', /empty/) },
  { world: 'the connection is closed without a reply', server: 'return 444;', ...down('network', /closed/) },
  {
    world: 'a header that is too large',
    server: `large_client_header_buffers 1 1k; ${PASS}`,
    upstream: { authorization: { credentials: 'x'.repeat(2000) } },
    ...down('status', /Request Header Or Cookie Too Large/),
  },
  {
    world: 'a request line that is too long',
    server: `large_client_header_buffers 1 1k; ${PASS}`,
    station: { filters: { resource_ids: Array.from({ length: 100 }, (_, at) => `resource-${at}`) } },
    ...down('status', /fewer resource_ids|resource_ids/),
  },
  { world: 'a port that speaks HTTP/2 alone', listen: 'http2', server: PASS, ...down('network', /HTTP\/2/) },
  {
    world: 'the service is gone: 502',
    server: 'location / { proxy_pass http://127.0.0.1:9; }',
    ...down('status', /502 Bad Gateway/),
  },
  {
    world: 'a page of maintenance: 503 with HTML',
    server: `default_type text/html; return 503 '<html><h1>We are back at noon</h1></html>';`,
    ...down('status', /We are back at noon/),
  },
];

describeMatrix('nginx', [NGINX], ROWS, () =>
  startMatrix(async ({ url }) => {
    const ports = await Promise.all(ROWS.map(() => closedPort()));
    const servers = ROWS.map(
      ({ server, listen = '' }, at) =>
        `server { listen 127.0.0.1:${ports[at]} ${listen}; ${server.replaceAll('SERVICE', url)} }`,
    );
    await startNginx(servers.join('\n'), { address: `127.0.0.1:${ports[0]}` });
    return ROWS.map(({ upstream = {}, station, told }, at) => {
      const { path = '', ...settings } = upstream as { readonly path?: string };
      return { told, station, upstream: { base_url: `http://127.0.0.1:${ports[at]}${path}`, ...settings } };
    });
  }),
);
