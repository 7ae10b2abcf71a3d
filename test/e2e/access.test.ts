import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { issue } from '../upstream/support/certificates.ts';
import { replaceFile, temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { NEW, RIGHT } from '../web/hashes.ts';
import { httpRequest } from '../web/http-client.ts';
import { configFlag, resultOf, serve } from './running-program.ts';
import { configOf } from './test-bed.ts';

const AUTHORITY = issue({ name: 'authority' });
const CONFIG = configOf('http://127.0.0.1:9', ['prod']);

function certificate() {
  return issue({ name: 'server', issuer: AUTHORITY, hosts: ['127.0.0.1'] });
}

function basic(password: string) {
  return { authorization: `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}` };
}

function webConfig(hash: string, { cert, key } = certificate()): string {
  return stringify({ tls_server_config: { cert, key }, basic_auth_users: { prometheus: hash } });
}

/** As kubelet does with the probes of the chart: without credentials, certificate or verification. */
async function probe(
  port: number,
  scheme: 'http' | 'https' | 'tcp',
  path: string,
): Promise<number | 'connected' | undefined> {
  if (scheme === 'tcp') {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    return 'connected';
  }
  const tls = { rejectUnauthorized: false };
  return (await httpRequest(port, path, scheme === 'https' ? { tls } : {})).status;
}

describe('the probes of a Kubernetes pod', () => {
  const { cert, key } = certificate();
  const clientCertificates = { client_auth_type: 'RequireAndVerifyClientCert', client_ca: AUTHORITY.cert };

  it.each([
    ['no web configuration', undefined, 'http', 200],
    ['users', { basic_auth_users: { prometheus: RIGHT } }, 'http', 200],
    ['TLS', { tls_server_config: { cert, key } }, 'https', 200],
    ['TLS and users', { tls_server_config: { cert, key }, basic_auth_users: { prometheus: RIGHT } }, 'https', 200],
    ['client certificates', { tls_server_config: { cert, key, ...clientCertificates } }, 'tcp', 'connected'],
  ] as const)('succeed with %s', async (_name, config, scheme, expected) => {
    const flags = config === undefined ? [] : [`--web.config.file=${temporaryFile('web.yml', stringify(config))}`];
    const { port } = await serve(CONFIG, ...flags);
    expect(await probe(port, scheme, '/-/healthy')).toBe(expected);
    await eventually(async () => expect(await probe(port, scheme, '/-/ready')).toBe(expected));
  });
});

describe('--web.config.file', () => {
  it('requires TLS and a password on every path, and applies changes of the file without a restart', async () => {
    const webFile = temporaryFile('web.yml', webConfig(RIGHT));
    const { port, output } = await serve(CONFIG, `--web.config.file=${webFile}`);
    const status = async (password?: string) => {
      const headers = password === undefined ? {} : basic(password);
      return (await httpRequest(port, '/config', { headers, tls: { ca: AUTHORITY.cert } })).status;
    };
    expect((await httpRequest(port, '/-/healthy', { tls: { ca: AUTHORITY.cert } })).status).toBe(200);
    await expect(httpRequest(port, '/-/healthy')).rejects.toThrow();
    expect([await status(), await status('wrong'), await status('right')]).toEqual([401, 401, 200]);

    replaceFile(webFile, 'basic_auth_users: { prometheus: open }\n');
    await eventually(() => expect(output().stderr).toContain('web configuration reload failed'));
    expect([await status(), await status('right')]).toEqual([401, 200]);

    replaceFile(webFile, webConfig(NEW));
    await eventually(async () => expect(await status('new')).toBe(200));
    expect(await status('right')).toBe(401);
    expect(output().stderr.match(/web configuration reload failed/g)).toHaveLength(1);
    expect(output().stderr).toMatch(
      /problem="[^"]*web\.yml:1:33: basic_auth_users\.prometheus: expected a bcrypt hash/,
    );
  });

  it.each([
    ['emptied', '', /web\.yml:1:1: the file is empty, /],
    ['cut after the key of the users', 'rate_limit: {}\nbasic_auth_users:\n', /web\.yml:2:18: basic_auth_users: /],
    ['reduced to no settings', '{}\n', /basic_auth_users: expected at least one user; removing every user requires/],
  ])('keeps requiring a password while the file is %s, logs it once and counts it', async (_how, broken, problem) => {
    const valid = stringify({ basic_auth_users: { prometheus: RIGHT } });
    const webFile = temporaryFile('web.yml', valid);
    const { get, port, scrape, output } = await serve(CONFIG, `--web.config.file=${webFile}`, '--web.enable-lifecycle');
    const reload = () => httpRequest(port, '/-/reload', { method: 'POST' });
    const metric = async (name: string) =>
      valuesOf(await scrape('/metrics', basic('right')), `telemetry_station_exporter_web_config_last_reload_${name}`)[
        ''
      ];
    expect(await metric('successful')).toBe(1);
    const since = await metric('success_timestamp_seconds');

    replaceFile(webFile, broken);
    await eventually(() => expect(output().stderr).toContain('web configuration reload failed'));
    expect([(await get('/config')).status, (await reload()).status]).toEqual([401, 401]);
    expect([await metric('successful'), await metric('success_timestamp_seconds')]).toEqual([0, since]);
    expect(output().stderr).toMatch(problem);

    replaceFile(webFile, valid);
    await eventually(async () => expect(await metric('successful')).toBe(1));
    expect(await metric('success_timestamp_seconds')).toBeGreaterThan(Number(since));
    expect(output().stderr.match(/web configuration reload failed/g)).toHaveLength(1);
  });

  it('prevents the start when the file has no users', async () => {
    const webFile = temporaryFile('web.yml', 'basic_auth_users: {}\n');
    const { code, stderr } = await resultOf([configFlag(CONFIG), `--web.config.file=${webFile}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${webFile}:1:19: basic_auth_users: expected at least one user`);
  });

  it('warns that everyone has access when the file sets nothing', async () => {
    const { output } = await serve(CONFIG, `--web.config.file=${temporaryFile('web.yml', '{}\n')}`);
    expect(output().stderr).toMatch(/level=warn msg="web configuration warning" warning="[^"]*everyone has access/);
  });
});
