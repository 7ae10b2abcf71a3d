import { describe, expect, it } from 'vitest';
import { isTlsPort, probeConnection } from '../../src/diagnosis/connection-probe.ts';
import type { FailureReason } from '../../src/model/failure.ts';
import { issue } from '../service/support/certificates.ts';
import { CLIENT_OPTIONS } from '../service/support/client.ts';
import { closedPort, startService } from '../service/support/service.ts';

const answer: Parameters<typeof startService>[0] = (_request, response) => response.end();

describe('probeConnection', () => {
  it('reports the addresses of a host and the duration of lookup and connect, and sends no request', async () => {
    const { port, requests } = await startService(answer);
    const startedMs = performance.now();
    const facts = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://localhost:${port}`) });
    const { dns, durationMs } = facts;
    expect(dns.addresses).toContain('127.0.0.1');
    expect(facts).toMatchObject({ dns: { error: undefined }, error: undefined, session: undefined });
    expect(Math.min(dns.durationMs, durationMs)).toBeGreaterThan(0);
    expect(dns.durationMs + durationMs).toBeLessThanOrEqual(performance.now() - startedMs);
    expect(requests).toEqual([]);
  });

  it('skips DNS for an IP address, and reports why the connection failed', async () => {
    const port = await closedPort();
    const facts = await probeConnection({ ...CLIENT_OPTIONS, baseUrl: new URL(`http://[::1]:${port}`) });
    expect(facts.dns).toMatchObject({ addresses: [], error: undefined });
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

describe('isTlsPort', () => {
  const probe = ({ port }: { port: number }, protocol: string, reason: FailureReason, status?: number) =>
    isTlsPort({ ...CLIENT_OPTIONS, baseUrl: new URL(`${protocol}://127.0.0.1:${port}`) }, [
      { reason, message: '', status },
    ]);

  it('is true of an http URL whose port answers TLS, after a failure that this can cause', async () => {
    const service = await startService(answer, issue({ name: 'self-signed' }));
    expect(await probe(service, 'http', 'network')).toBe(true);
    // As nginx answers.
    expect(await probe(service, 'http', 'status', 400)).toBe(true);
    expect(await probe(service, 'http', 'status', 500)).toBe(false);
    expect(await probe(service, 'https', 'network')).toBe(false);
    expect(await probe(await startService(answer), 'http', 'network')).toBe(false);
  });
});
