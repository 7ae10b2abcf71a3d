import { describe, expect, it } from 'vitest';
import { OPEN_ACCESS } from '../../../src/web/access/rules.ts';
import { RIGHT } from '../hashes.ts';
import { parseHtml } from '../html-parser.ts';
import { startApp } from '../running-app.ts';
import { AS_BROWSER, openPage } from './opened-page.ts';

describe('errorPage', () => {
  it.each([
    { method: 'GET', path: '/nowhere', status: 404, heading: 'Not found', text: 'All stations' },
    { method: 'GET', path: '/%zz', status: 400, heading: 'Bad request', text: 'a malformed percent-encoding.' },
    { method: 'DELETE', path: '/sd', status: 405, heading: 'Method not allowed', text: 'allowed: GET, HEAD.' },
    { method: 'GET', path: '/config', status: 500, heading: 'Internal server error', text: 'Internal error.' },
  ])(
    'shows the error of $path ($method) as a page with status $status',
    async ({ path, method, status, heading, text }) => {
      const { request } = await startApp({ configuration: () => JSON.parse('{') });
      const response = await request(path, { method, ...AS_BROWSER });
      expect(response).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(response.headers.vary).toMatch(/^Accept(?:, Accept-Encoding)?$/);
      expect(response.body).toContain(`<h1>${heading}</h1>`);
      expect(parseHtml(response.body).text).toContain(text);
      expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    },
  );

  it('says that a station may be unknown on this shard alone', async () => {
    const { text } = await openPage({ isSharded: true }, '/probe?station=other');
    expect(text).toContain('No station "other" is configured on this shard.');
  });

  it.each([undefined, '*/*', 'application/json', 'text/plain, text/html', 'text/html;q=0.1, text/plain;q=0.2'])(
    'keeps plain text for a client that accepts %s',
    async (accept) => {
      const { request } = await startApp();
      expect(await request('/nowhere', { headers: accept === undefined ? {} : { accept } })).toMatchObject({
        status: 404,
        headers: { 'content-type': 'text/plain; charset=utf-8', vary: 'Accept' },
        body: 'Not found.\n',
      });
    },
  );

  it('keeps headers and status of the error, and has no body in the response to HEAD', async () => {
    const { request } = await startApp();
    expect((await request('/sd', { method: 'POST', ...AS_BROWSER })).headers.allow).toBe('GET, HEAD');
    const get = await request('/nowhere', AS_BROWSER);
    expect(await request('/nowhere', { method: 'HEAD', ...AS_BROWSER })).toEqual({ ...get, body: '' });
  });

  it('discloses no page to a client without access', async () => {
    const access = () => ({ ...OPEN_ACCESS, users: new Map([['a', RIGHT]]) });
    const { request } = await startApp({}, { access });
    expect((await request('/nowhere', AS_BROWSER)).body).toBe('Unauthorized.\n');
    // Everyone may request it.
    expect((await request('/-/ready', { method: 'POST', ...AS_BROWSER })).body).toBe(
      'Method not allowed; allowed: GET, HEAD.\n',
    );
    expect((await openPage({}, '/', { access: () => JSON.parse('{') })).body).toBe('Internal error.\n');
  });
});
