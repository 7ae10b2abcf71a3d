import { describe, expect, it } from 'vitest';
import { specOf } from '../stations/fixtures.ts';
import { openConnection } from './http-client.ts';
import { plainText, SERVER_TLS, startApp } from './running-app.ts';

const META = {
  __meta_telemetry_station_name: 'prod',
  __meta_telemetry_station_subscription: 'sub',
  __meta_telemetry_station_resource_group: 'rg',
  __meta_telemetry_station_zone: 'z1',
  __meta_telemetry_station_telemetry_station: 'ts',
  __meta_telemetry_station_upstream: 'main',
};

function group(target: string, labels: Record<string, string>) {
  return { targets: [target], labels: { ...labels, ...META } };
}

describe('serviceDiscovery', () => {
  it('returns one target group per station, with the host of the request as target', async () => {
    const other = specOf({ name: 'größe "x"', labels: { team: 'storage' } });
    const { request } = await startApp({ specs: () => [specOf(), other] });
    const common = { __metrics_path__: '/probe', __param_station: 'prod' };
    const labels = {
      ...common,
      __param_station: other.name,
      ...META,
      __meta_telemetry_station_name: other.name,
      __meta_telemetry_station_label_team: 'storage',
    };
    const body = JSON.stringify([
      group('exporter.example:9842', common),
      { targets: ['exporter.example:9842'], labels },
    ]);
    expect(await request('/sd', { headers: { host: 'exporter.example:9842' } })).toEqual(
      plainText(200, body, { 'content-type': 'application/json', vary: 'Accept-Encoding' }),
    );
  });

  it.each([
    [
      'https://tse.example.com/a/b/',
      group('tse.example.com:443', { __scheme__: 'https', __metrics_path__: '/a/b/probe', __param_station: 'prod' }),
    ],
    ['http://[::1]:8080/x', group('[::1]:8080', { __metrics_path__: '/x/probe', __param_station: 'prod' })],
  ])('takes scheme, target and path from the external URL %s', async (externalUrl, expected) => {
    const { request } = await startApp({}, { externalUrl: new URL(externalUrl) });
    expect(JSON.parse((await request('/sd')).body)).toEqual([expected]);
  });

  it.each(['', 'Host: a b\r\n', 'Host: :80\r\n', 'Host: a:65536\r\n', 'Host: ::1\r\n'])(
    'responds 400 without a valid Host header: %j',
    async (header) => {
      const { port } = await startApp();
      const { received } = openConnection(port, `GET /sd HTTP/1.0\r\n${header}\r\n`);
      expect(await received).toContain('Expected a Host header of a host and an optional port.\n');
    },
  );

  it('sets __scheme__ to https for a request over TLS', async () => {
    const { request } = await startApp({}, {}, SERVER_TLS);
    const { body } = await request('/sd', {
      headers: { host: 'tse.example.com' },
      tls: { rejectUnauthorized: false },
    });
    expect(JSON.parse(body)).toEqual([
      group('tse.example.com:443', { __scheme__: 'https', __metrics_path__: '/probe', __param_station: 'prod' }),
    ]);
  });
});
