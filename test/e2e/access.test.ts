import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseExposition, valuesOf } from '../exposition/parse-exposition.ts';
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
  it('requires TLS and a password, also while the changed file is broken, and applies the next valid one without a restart', async () => {
    const webFile = temporaryFile('web.yml', webConfig(RIGHT));
    const { port, output } = await serve(CONFIG, `--web.config.file=${webFile}`);
    const request = (path: string, password?: string) => {
      const headers = password === undefined ? {} : basic(password);
      return httpRequest(port, path, { headers, tls: { ca: AUTHORITY.cert } });
    };
    const status = async (password?: string) => (await request('/config', password)).status;
    const metric = async (name: string, password: string) => {
      const families = parseExposition((await request('/metrics', password)).body);
      return valuesOf(families, `telemetry_station_exporter_config_last_reload_${name}`, 'config')['web'];
    };
    expect((await request('/-/healthy')).status).toBe(200);
    await expect(httpRequest(port, '/-/healthy')).rejects.toThrow();
    expect([await status(), await status('wrong'), await status('right')]).toEqual([401, 401, 200]);
    expect(await metric('successful', 'right')).toBe(1);
    const since = await metric('success_timestamp_seconds', 'right');

    replaceFile(webFile, webConfig('no hash'));
    await eventually(() => expect(output().stderr).toContain('web configuration reload failed'));
    expect(output().stderr).toContain('basic_auth_users.prometheus: ');
    expect([await status(), await status('right')]).toEqual([401, 200]);
    expect([await metric('successful', 'right'), await metric('success_timestamp_seconds', 'right')]).toEqual([
      0,
      since,
    ]);

    replaceFile(webFile, webConfig(NEW));
    await eventually(async () => expect(await status('new')).toBe(200));
    expect(await status('right')).toBe(401);
    expect(await metric('successful', 'new')).toBe(1);
    expect(await metric('success_timestamp_seconds', 'new')).toBeGreaterThan(Number(since));
    expect(output().stderr.match(/web configuration reload failed/g)).toHaveLength(1);
  });
});
