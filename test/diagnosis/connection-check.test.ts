import { describe, expect, it } from 'vitest';
import { checkConnection } from '../../src/diagnosis/connection-check.ts';
import { issue } from '../service/support/certificates.ts';
import { CLIENT_OPTIONS } from '../service/support/client.ts';
import { startService } from '../service/support/service.ts';

const answer: Parameters<typeof startService>[0] = (_request, response) => response.end();

describe('checkConnection', () => {
  it('reads an untrusted certificate, with server_name as SNI', async () => {
    const names: unknown[] = [];
    const self = issue({ name: 'self-signed' });
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.push(name);
      done(null);
    };
    const { url } = await startService(answer, { ...self, SNICallback });
    const tls = { insecure_skip_verify: false, server_name: 'monitor.example.com' };
    const { error, session } = await checkConnection({ ...CLIENT_OPTIONS, baseUrl: url, tls });
    expect(error).toMatchObject({ reason: 'tls' });
    expect(session).toMatchObject({ protocol: 'TLSv1.3', issuer: 'self-signed' });
    expect(names).toEqual(['monitor.example.com', 'monitor.example.com']);
  });
});
