import { describe, expect, it } from 'vitest';
import { probeConnection, speaksTls } from '../../src/diagnosis/connection-probe.ts';
import { issue } from '../upstream/support/certificates.ts';
import { CLIENT_OPTIONS } from '../upstream/support/client.ts';
import { closedPort, startService } from '../upstream/support/service.ts';

const answer: Parameters<typeof startService>[0] = (_request, response) => response.end();

describe('probeConnection', () => {
  it('tells the addresses of a name and how long it took to learn them', async () => {
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
      name: { addresses: ['localhost in v4', 'localhost in v6'], error: undefined, ms: 12 },
      error: undefined,
      ms: 5,
      session: undefined,
    });
    expect(requests).toEqual([]);
  });

  it('resolves a real name', async () => {
    const { port } = await startService(answer);
    const { name } = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://localhost:${port}`) });
    expect(name.addresses).toContain('127.0.0.1');
  });

  it('has no name to resolve where there is an address, and tells why there is no connection', async () => {
    const port = await closedPort();
    const facts = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://[::1]:${port}`) });
    expect(facts.name).toEqual({ addresses: [], error: undefined, ms: 0 });
    expect(facts).toMatchObject({ error: { reason: 'network' }, session: undefined });
  });

  it('looks at a certificate that it does not trust, under the name it asks for', async () => {
    const names: unknown[] = [];
    const self = issue({ name: 'nobody in particular' });
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.push(name);
      done(null);
    };
    const { url } = await startService(answer, { ...self, SNICallback });
    const tls = { insecureSkipVerify: false, serverName: 'monitor.example.com' };
    const { error, session } = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: url, tls });
    expect(error).toMatchObject({ reason: 'tls' });
    expect(session).toMatchObject({ protocol: 'TLSv1.3', issuer: 'nobody in particular', names: ['nobody in particular'] });
    expect(names).toEqual(['monitor.example.com', 'monitor.example.com']);
  });
});

describe('speaksTls', () => {
  it('tells whether TLS is spoken where an http URL leads to', async () => {
    const secure = await startService(answer, issue({ name: 'service' }));
    const plain = await startService(answer);
    const at = (port: number) => speaksTls({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://127.0.0.1:${port}/prefix`) });
    expect(await at(secure.port)).toBe(true);
    expect(await at(plain.port)).toBe(false);
  });
});
