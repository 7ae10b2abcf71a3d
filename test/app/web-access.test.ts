import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAccessRules } from '../../src/app/web-access.ts';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';

const HASH = '$2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze';
const { cert, key } = issue({ name: 'server' });

function load(text: string) {
  return loadAccessRules(temporaryFile('web.yml', text));
}

describe('loadAccessRules', () => {
  it('lets everyone ask without a file, and with an empty one', async () => {
    expect(await loadAccessRules(undefined)).toEqual({ ok: true, rules: OPEN_ACCESS });
    expect(await load('')).toEqual({ ok: true, rules: OPEN_ACCESS });
  });

  it('gives users, headers and the rate as they are written', async () => {
    const result = await load(`
http_server_config: { headers: { X-Frame-Options: deny } }
basic_auth_users: { alice: ${HASH}, constructor: ${HASH} }
rate_limit: { interval: 1s, burst: 5 }
`);
    const users = new Map([
      ['alice', HASH],
      ['constructor', HASH],
    ]);
    expect(result).toEqual({ ok: true, rules: { headers: { 'X-Frame-Options': 'deny' }, users, rate: { intervalMs: 1000, burst: 5 } } });
  });

  it('switches TLS on by a certificate, and not by a version alone', async () => {
    const certFile = temporaryFile('server.crt', cert);
    const keyFile = temporaryFile('server.key', key);
    const result = await load(`tls_server_config: { cert_file: ${certFile}, key_file: ${keyFile} }`);
    expect(result).toMatchObject({ ok: true, rules: { tls: { context: { cert: readFileSync(certFile, 'utf8'), key } } } });
    expect(await load('tls_server_config: { min_version: TLS13 }')).toEqual({ ok: true, rules: OPEN_ACCESS });
  });

  it('tells a file that cannot be read', async () => {
    expect(await loadAccessRules('/nowhere/web.yml')).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^\/nowhere\/web\.yml:1:1: cannot be read, expected a readable file: ENOENT/)],
    });
  });

  it('tells mistakes in the text with their places', async () => {
    const file = temporaryFile('web.yml', 'basic_auth_users:\n  alice: secret\nunknown: 1\n');
    expect(await loadAccessRules(file)).toEqual({
      ok: false,
      problems: [
        `${file}:2:10: basic_auth_users.alice: found something else, expected a bcrypt hash such as \`htpasswd -nB\` makes`,
        expect.stringMatching(`^${file}:3:1: unknown: unknown key, expected one of tls_server_config, `),
      ],
    });
  });

  it('tells mistakes in the files it names with the places that name them', async () => {
    const file = temporaryFile('web.yml', 'tls_server_config:\n  cert_file: missing.crt\n  key: junk\n');
    expect(await loadAccessRules(file)).toEqual({
      ok: false,
      problems: [
        expect.stringMatching(`^${file}:2:14: tls_server_config.cert_file: cannot be read, .*${dirname(file)}/missing.crt'$`),
        `${file}:3:8: tls_server_config.key: found no usable key, expected one in PEM without a passphrase`,
      ],
    });
    const weak = issue({ name: 'weak', namedCurve: 'secp112r1' });
    const tls = { cert: weak.cert, key: weak.key };
    expect(await load(JSON.stringify({ tls_server_config: tls }))).toEqual({
      ok: false,
      problems: [expect.stringMatching(/:1:22: tls_server_config: cannot be used together: /)],
    });
  });
});
