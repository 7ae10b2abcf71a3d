import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SIGNED_HEADERS, type SignedHeader } from '../../../src/model/upstream-options.ts';
import { clockHint, hmacSigner } from '../../../src/upstream/http/signer.ts';
import { testClient } from '../support/client.ts';
import { startService } from '../support/service.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';
const SECRET = 'sécret/key+=';

const secret = { read: async () => SECRET };

const REQUEST = {
  method: 'GET',
  host: 'monitor.example.com:8443',
  pathAndQuery: '/monitor/a%20b?page.size=100&product=x%2Fy',
  nowMs: NOW_MS,
  signal: new AbortController().signal,
} as const;

describe('hmacSigner', () => {
  it.each<[SignedHeader[], string, string[]]>([
    [['x-date'], `x-date: ${DATE}`, ['X-Date']],
    [
      ['x-date', 'request-line'],
      `x-date: ${DATE}\nGET /monitor/a%20b?page.size=100&product=x%2Fy HTTP/1.1`,
      ['X-Date'],
    ],
    [['date', 'request-line'], `date: ${DATE}\nGET /monitor/a%20b?page.size=100&product=x%2Fy HTTP/1.1`, ['Date']],
    [
      ['date', 'host', '@request-target'],
      `date: ${DATE}\nhost: monitor.example.com:8443\n@request-target: get /monitor/a%20b?page.size=100&product=x%2Fy`,
      ['Date'],
    ],
    [['host', 'date', 'x-date'], `host: monitor.example.com:8443\ndate: ${DATE}\nx-date: ${DATE}`, ['X-Date', 'Date']],
    [['host'], 'host: monitor.example.com:8443', []],
  ])('signs %j in the configured order', async (signedHeaders, lines, dateHeaders) => {
    const signature = createHmac('sha256', Buffer.from(SECRET)).update(Buffer.from(lines)).digest('base64');
    const list = signedHeaders.join(' ');
    await expect(hmacSigner('AK', secret, signedHeaders)(REQUEST)).resolves.toEqual({
      headers: [
        ...dateHeaders.map((name) => [name, DATE]),
        ['Authorization', `hmac accesskey="AK", algorithm="hmac-sha256", headers="${list}", signature="${signature}"`],
      ],
      secrets: [SECRET, signature],
    });
  });

  it('signs the request as it is sent', async () => {
    const service = await startService((_request, response) => response.end('{}'));
    const auth = {
      scheme: 'hmac',
      accessKeyId: 'AK',
      secretAccessKey: { text: SECRET },
      signedHeaders: SIGNED_HEADERS,
    } as const;
    const { get } = testClient(service.url, { auth });
    await get("/prefix/a%2fb/'c'?x=%E4%BD%A0&y=a+b&z=~!*()");
    const { rawHeaders, headers, method, url } = service.requests[0] ?? {};
    const lines = [
      `x-date: ${headers?.['x-date']}`,
      `date: ${headers?.date}`,
      `host: ${headers?.host}`,
      `${method} ${url} HTTP/1.1`,
      `@request-target: ${method?.toLowerCase()} ${url}`,
    ];
    const signature = createHmac('sha256', SECRET).update(lines.join('\n')).digest('base64');
    expect(url).toBe("/prefix/a%2fb/'c'?x=%E4%BD%A0&y=a+b&z=~!*()");
    expect(headers?.authorization).toBe(
      `hmac accesskey="AK", algorithm="hmac-sha256", headers="x-date date host request-line @request-target", signature="${signature}"`,
    );
    expect(rawHeaders).toEqual(expect.arrayContaining(['X-Date', 'Date', 'Authorization']));
  });
});

describe('clockHint', () => {
  it('reports the difference of the local clock', () => {
    expect(clockHint(DATE, NOW_MS - 120_000)).toMatch(/^the local clock is 119 s behind the service's/);
    expect(clockHint(DATE, NOW_MS + 120_000)).toMatch(/^the local clock is 121 s ahead of the service's/);
  });

  it('is undefined for a difference of up to a minute and without a date', () => {
    expect(clockHint(DATE, NOW_MS - 678 + 60_000)).toBeUndefined();
    expect(clockHint(undefined, NOW_MS)).toBeUndefined();
    expect(clockHint('yesterday', NOW_MS)).toBeUndefined();
  });
});
