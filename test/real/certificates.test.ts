import { closedPort } from '../service/support/service.ts';
import { startMatrix } from './support/matrix.ts';
import { NGINX, startNginx } from './support/nginx.ts';
import { certificateFolder, OPENSSL } from './support/openssl.ts';
import { describeMatrix, type MatrixRow } from './support/worlds.ts';

interface Row extends MatrixRow {
  /** Name of the certificate and key of the server. */
  readonly server: string;
  /** Of the server block. */
  readonly settings?: string;
  /** Settings of the exporter, with names of files. */
  readonly tls: Readonly<Record<string, string>>;
  readonly scheme?: 'http';
  /** Words of the page of the station. */
  readonly told?: RegExp;
}

const TRUST = { ca_file: 'root.pem' };
const TRUE = { promise: 'true', publishes: /^true$/ };
const down = (reason: string, told: RegExp) => ({
  promise: `down: ${reason}, told`,
  publishes: new RegExp(`^(down: ${reason}|told)$`),
  told,
});

const HOSTS = 'subjectAltName=IP:127.0.0.1';
const REQUIRED = 'ssl_client_certificate root.pem; ssl_verify_client on;';
const CLIENT = { cert_file: 'client.pem', key_file: 'client.key' };

const ROWS: readonly Row[] = [
  { world: 'issued by the root', server: 'leaf', tls: TRUST, ...TRUE },
  { world: 'with its intermediate', server: 'chain', tls: TRUST, ...TRUE },
  {
    world: 'without its intermediate',
    server: 'below',
    tls: TRUST,
    ...down('tls', /untrusted authority.*intermediate/),
  },
  { world: 'ca_file: the intermediate alone', server: 'chain', tls: { ca_file: 'intermediate.pem' }, ...TRUE },
  { world: 'self-signed, in ca_file', server: 'self', tls: { ca_file: 'self.pem' }, ...TRUE },
  { world: 'self-signed', server: 'self', tls: {}, ...down('tls', /untrusted authority/) },
  {
    world: 'of another authority',
    server: 'leaf',
    tls: { ca_file: 'self.pem' },
    ...down('tls', /untrusted authority/),
  },
  { world: 'expired', server: 'expired', tls: TRUST, ...down('tls', /has expired/) },
  { world: 'not yet valid', server: 'future', tls: TRUST, ...down('tls', /not yet valid.*clock/) },
  { world: 'of another name', server: 'other', tls: TRUST, ...down('tls', /another host name.*server_name/) },
  {
    world: 'of another name, in server_name',
    server: 'other',
    tls: { ...TRUST, server_name: 'other.example' },
    ...TRUE,
  },
  { world: 'a common name alone', server: 'nameless', tls: TRUST, ...down('tls', /another host name/) },
  { world: 'insecure_skip_verify', server: 'expired', tls: { insecure_skip_verify: 'true' }, ...TRUE },
  { world: 'signed with SHA-1', server: 'sha1', tls: TRUST, ...down('tls', /digest|md too weak/i) },
  { world: 'an RSA key of 768 bits', server: 'short', tls: TRUST, ...down('tls', /key too (small|weak)/i) },
  { world: 'outside the name constraints', server: 'constrained', tls: TRUST, ...down('tls', /permitted subtree/) },
  { world: 'for clients only', server: 'client', tls: TRUST, ...down('tls', /purpose/) },
  {
    world: 'the server requires a certificate',
    server: 'leaf',
    settings: REQUIRED,
    tls: { ...TRUST, ...CLIENT },
    ...TRUE,
  },
  {
    world: 'the server requires a certificate, none is set',
    server: 'leaf',
    settings: REQUIRED,
    tls: TRUST,
    ...down('status', /tls_config\.cert_file.*No required SSL certificate was sent/),
  },
  {
    world: 'the server requires a certificate of another authority',
    server: 'leaf',
    settings: REQUIRED,
    tls: { ...TRUST, cert_file: 'self.pem', key_file: 'self.key' },
    ...down('status', /tls_config\.cert_file.*SSL certificate error/),
  },
  {
    world: 'a key with a passphrase',
    server: 'leaf',
    settings: REQUIRED,
    tls: { ...TRUST, cert_file: 'client.pem', key_file: 'encrypted.key' },
    ...down('tls', /passphrase/),
  },
  { world: 'ca_file in DER', server: 'leaf', tls: { ca_file: 'root.der' }, ...down('tls', /DER.*openssl x509/) },
  {
    world: 'ca_file with a damaged second certificate',
    server: 'leaf',
    tls: { ca_file: 'damaged.pem' },
    ...down('tls', /(second|2)/),
  },
  {
    world: 'TLS 1.2, min_version TLS13',
    server: 'leaf',
    settings: 'ssl_protocols TLSv1.2;',
    tls: { ...TRUST, min_version: 'TLS13' },
    ...down('tls', /version/),
  },
  { world: 'TLS 1.3 alone', server: 'leaf', settings: 'ssl_protocols TLSv1.3;', tls: TRUST, ...TRUE },
  {
    world: 'TLS 1.0 alone',
    server: 'leaf',
    settings: 'ssl_protocols TLSv1; ssl_ciphers ALL:@SECLEVEL=0;',
    tls: TRUST,
    ...down('tls', /version/),
  },
  {
    world: 'http:// for a port with TLS',
    server: 'leaf',
    scheme: 'http',
    tls: TRUST,
    ...down('status', /https:.*plain HTTP request was sent to HTTPS port/),
  },
];

function issueCertificates(): ReturnType<typeof certificateFolder> {
  const folder = certificateFolder();
  const { issue, issueAuthority } = folder;
  issueAuthority('root');
  issueAuthority('intermediate', { issuer: 'root' });
  issueAuthority('confined', { issuer: 'root', extensions: ['nameConstraints=critical,permitted;DNS:inside.example'] });
  issue('leaf', { issuer: 'root', extensions: [HOSTS] });
  issue('below', { issuer: 'intermediate', extensions: [HOSTS] });
  issue('self', { extensions: [HOSTS] });
  issue('expired', { issuer: 'root', extensions: [HOSTS], validity: [-2, -1] });
  issue('future', { issuer: 'root', extensions: [HOSTS], validity: [1, 2] });
  issue('other', { issuer: 'root', extensions: ['subjectAltName=DNS:other.example'] });
  issue('nameless', { issuer: 'root' });
  issue('sha1', { issuer: 'root', extensions: [HOSTS], digest: 'sha1' });
  issue('short', { issuer: 'root', extensions: [HOSTS], key: ['-newkey', 'rsa:768'] });
  issue('outside', { issuer: 'confined', extensions: ['subjectAltName=IP:127.0.0.1,DNS:outside.example'] });
  issue('client', { issuer: 'root', extensions: [HOSTS, 'extendedKeyUsage=clientAuth'] });
  folder.join('chain.pem', 'below.pem', 'intermediate.pem');
  folder.join('chain.key', 'below.key');
  folder.join('constrained.pem', 'outside.pem', 'confined.pem');
  folder.join('constrained.key', 'outside.key');
  folder.openssl('x509', '-in', 'root.pem', '-outform', 'der', '-out', 'root.der');
  folder.openssl('pkcs8', '-topk8', '-in', 'client.key', '-passout', 'pass:secret', '-out', 'encrypted.key');
  folder.write('half.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
  folder.join('damaged.pem', 'self.pem', 'half.pem', 'root.pem');
  return folder;
}

describeMatrix('certificates', [NGINX, OPENSSL], ROWS, () =>
  startMatrix(async (service) => {
    const { path } = issueCertificates();
    const ports = await Promise.all(ROWS.map(() => closedPort()));
    const servers = ROWS.map(({ server, settings = '' }, at) => {
      const certificate = `ssl_certificate ${path(`${server}.pem`)}; ssl_certificate_key ${path(`${server}.key`)};`;
      const protocols = settings.includes('ssl_protocols') ? '' : 'ssl_ciphers DEFAULT@SECLEVEL=0;';
      const pathed = settings.replace('root.pem', path('root.pem'));
      return `server { listen 127.0.0.1:${ports[at]} ssl; ${certificate} ${protocols} ${pathed} location / { proxy_pass ${service.url}; } }`;
    });
    await startNginx(servers.join('\n'), { address: `127.0.0.1:${ports[0]}` });
    return ROWS.map(({ tls, scheme = 'https', told }, at) => ({
      told,
      upstream: { base_url: `${scheme}://127.0.0.1:${ports[at]}`, tls_config: withPaths(tls, path) },
    }));
  }),
);

function withPaths(tls: Row['tls'], path: (file: string) => string): object {
  return Object.fromEntries(
    Object.entries(tls).map(([key, value]) => [
      key,
      key.endsWith('_file') ? path(value) : value === 'true' ? true : value,
    ]),
  );
}
