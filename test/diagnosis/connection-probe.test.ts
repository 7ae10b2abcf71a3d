import { describe, expect, it } from 'vitest';
import { probeConnection } from '../../src/diagnosis/connection-probe.ts';
import { issue } from '../upstream/support/certificates.ts';
import { CLIENT_OPTIONS } from '../upstream/support/client.ts';
import { closedPort, startService } from '../upstream/support/service.ts';

const answer: Parameters<typeof startService>[0] = (_request, response) => response.end();

describe('probeConnection', () => {
  it('reports the addresses of a host and the duration of lookup and connect', async () => {
    const { port, requests } = await startService(answer);
    const times = [0, 12, 20, 25];
    const facts = await probeConnection(
      { ...CLIENT_OPTIONS, baseUrl: new URL(`http://localhost:${port}`) },
      {
        resolve: async (host) => [{ address: `${host} in v4` }, { address: `${host} in v6` }],
        elapsedMs: () => times.shift() ?? Number.NaN,
      },
    );
    expect(facts).toEqual({
      dns: { addresses: ['localhost in v4', 'localhost in v6'], error: undefined, durationMs: 12 },
      error: undefined,
      durationMs: 5,
      session: undefined,
    });
    expect(requests).toEqual([]);
  });

  it('resolves localhost', async () => {
    const { port } = await startService(answer);
    const { dns } = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://localhost:${port}`) });
    expect(dns.addresses).toContain('127.0.0.1');
  });

  it('skips DNS for an IP address, and reports why the connection failed', async () => {
    const port = await closedPort();
    const facts = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://[::1]:${port}`) });
    expect(facts.dns).toEqual({ addresses: [], error: undefined, durationMs: 0 });
    expect(facts).toMatchObject({ error: { reason: 'network' }, session: undefined });
  });

  it('reads an untrusted certificate, with server_name as SNI', async () => {
    const names: unknown[] = [];
    const self = issue({ name: 'self-signed' });
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.push(name);
      done(null);
    };
    const { url } = await startService(answer, { ...self, SNICallback });
    const tls = { insecure_skip_verify: false, server_name: 'monitor.example.com' };
    const { error, session } = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: url, tls });
    expect(error).toMatchObject({ reason: 'tls' });
    expect(session).toMatchObject({ protocol: 'TLSv1.3', issuer: 'self-signed', names: ['self-signed'] });
    expect(names).toEqual(['monitor.example.com', 'monitor.example.com']);
  });
});
