import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { issue } from '../service/support/certificates.ts';
import { replaceFile, temporaryFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { NEW, RIGHT } from '../web/hashes.ts';
import { httpRequest } from '../web/http-client.ts';
import { serve } from './running-program.ts';
import { configOf } from './test-bed.ts';

const AUTHORITY = issue({ name: 'authority' });
const CONFIG = configOf('http://127.0.0.1:9', ['prod']);

function basic(password: string) {
  return { authorization: `Basic ${Buffer.from(`prometheus:${password}`).toString('base64')}` };
}

/** With a new certificate each time. */
function webConfig(hash: string): string {
  const { cert, key } = issue({ name: 'server', issuer: AUTHORITY, hosts: ['127.0.0.1'] });
  return stringify({ tls_server_config: { cert, key }, basic_auth_users: { prometheus: hash } });
}

describe('--web.config.file', () => {
  it('requires TLS and a password on every path, and applies changes of the file without a restart', async () => {
    const webFile = temporaryFile('web.yml', webConfig(RIGHT));
    const { port } = await serve(CONFIG, `--web.config.file=${webFile}`);
    const status = async (password?: string) => {
      const headers = password === undefined ? {} : basic(password);
      return (await httpRequest(port, '/config', { headers, tls: { ca: AUTHORITY.cert } })).status;
    };
    expect((await httpRequest(port, '/-/healthy', { tls: { ca: AUTHORITY.cert } })).status).toBe(200);
    await expect(httpRequest(port, '/-/healthy')).rejects.toThrow();
    expect([await status(), await status('wrong'), await status('right')]).toEqual([401, 401, 200]);

    replaceFile(webFile, webConfig(NEW));
    await eventually(async () => expect(await status('new')).toBe(200));
    expect(await status('right')).toBe(401);
  });

  it('keeps requiring a password while the file is broken, logs it once and counts it', async () => {
    const valid = stringify({ basic_auth_users: { prometheus: RIGHT } });
    const webFile = temporaryFile('web.yml', valid);
    const { get, port, scrape, output } = await serve(CONFIG, `--web.config.file=${webFile}`, '--web.enable-lifecycle');
    const reload = () => httpRequest(port, '/-/reload', { method: 'POST' });
    const metric = async (name: string) => {
      const families = await scrape('/metrics', basic('right'));
      return valuesOf(families, `telemetry_station_exporter_config_last_reload_${name}`, 'config')['web'];
    };
    expect(await metric('successful')).toBe(1);
    const since = await metric('success_timestamp_seconds');

    replaceFile(webFile, '{}\n');
    await eventually(() => expect(output().stderr).toContain('web configuration reload failed'));
    expect([(await get('/config')).status, (await reload()).status]).toEqual([401, 401]);
    expect([await metric('successful'), await metric('success_timestamp_seconds')]).toEqual([0, since]);
    expect(output().stderr).toContain('basic_auth_users: expected at least one user; removing every user requires');

    replaceFile(webFile, valid);
    await eventually(async () => expect(await metric('successful')).toBe(1));
    expect(await metric('success_timestamp_seconds')).toBeGreaterThan(Number(since));
    expect(output().stderr.match(/web configuration reload failed/g)).toHaveLength(1);
  });
});
