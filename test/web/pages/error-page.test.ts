import { describe, expect, it } from 'vitest';
import { OPEN_ACCESS } from '../../../src/web/access/rules.ts';
import { rootFrom } from '../../../src/web/pages/error-page.ts';
import { RIGHT } from '../hashes.ts';
import { parseHtml } from '../html-parser.ts';
import type { RequestOptions } from '../http-client.ts';
import { startApp } from '../running-app.ts';

/** As Chromium sends it. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

const asBrowser: RequestOptions = { headers: { accept: BROWSER } };

describe('errorPages', () => {
  it.each<[path: string, method: string, status: number, heading: string, text: string]>([
    ['/nowhere', 'GET', 404, 'Not found', '/nowhere'],
    ['/probe?station=other', 'GET', 404, 'Not found', 'No station with this name is configured on this shard.'],
    ['/probe', 'GET', 400, 'Bad request', 'Expected one station parameter: /probe?station=NAME'],
    ['/?format=xml', 'GET', 400, 'Bad request', 'Expected format to be one of html, json, csv, at most once.'],
    ['/stations/prod/resources?sort=size', 'GET', 400, 'Bad request', 'Expected sort to be one of '],
    ['/%zz', 'GET', 400, 'Bad request', 'The URL has a malformed percent-encoding.'],
    ['/-/reload', 'POST', 403, 'Forbidden', 'The lifecycle API is not enabled (--web.enable-lifecycle).'],
    ['/sd', 'DELETE', 405, 'Method not allowed', 'Method not allowed; allowed: GET, HEAD.'],
    ['/config', 'GET', 500, 'Internal server error', 'Internal error.'],
  ])('shows the error of %s (%s) as a page with status %d', async (path, method, status, heading, text) => {
    const { request } = await startApp({ configuration: () => JSON.parse('{') });
    const response = await request(path, { method, ...asBrowser });
    expect(response).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(response.headers.vary).toMatch(/^Accept(?:, Accept-Encoding)?$/);
    expect(response.body).toContain(`<h1>${heading}</h1>`);
    expect(parseHtml(response.body).text).toContain(text);
    expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });

  it.each([
    undefined,
    '*/*',
    'application/json',
    'text/plain',
    'text/plain, text/html',
    'text/html;q=0.1, text/plain;q=0.2',
    'nonsense',
  ])('keeps plain text for a client that accepts %s', async (accept) => {
    const { request } = await startApp();
    const response = await request('/nowhere', { headers: accept === undefined ? {} : { accept } });
    expect(response).toMatchObject({
      status: 404,
      headers: { 'content-type': 'text/plain; charset=utf-8', vary: 'Accept' },
    });
    expect(response.body).toBe('Not found.\n');
  });

  it('keeps headers and status of the error, and has no body in the response to HEAD', async () => {
    const { request } = await startApp();
    const response = await request('/sd', { method: 'POST', ...asBrowser });
    expect(response.headers.allow).toBe('GET, HEAD');
    const get = await request('/nowhere', asBrowser);
    expect(await request('/nowhere', { method: 'HEAD', ...asBrowser })).toEqual({ ...get, body: '' });
  });

  it('escapes what the request contains', async () => {
    const { request } = await startApp();
    const { body } = await request('/<script>alert(1)</script>"&amp;', asBrowser);
    expect(body).not.toContain('<script');
    expect(parseHtml(body).text).toContain('/<script>alert(1)</script>"&amp;');
  });

  it('discloses no page to a client without access', async () => {
    const access = () => ({ ...OPEN_ACCESS, users: new Map([['a', RIGHT]]) });
    const { request } = await startApp({}, { access });
    for (const path of ['/', '/nowhere', '/%zz']) {
      expect(await request(path, asBrowser)).toMatchObject({ status: 401, body: 'Unauthorized.\n' });
    }
    const { request: foreign } = await startApp({}, { allowedHosts: ['exporter.example'] });
    const response = await foreign('/', { headers: { accept: BROWSER, host: 'evil.example' } });
    expect(response).toMatchObject({ status: 403, body: 'The host name is not allowed (--web.allowed-hosts).\n' });
  });

  it.each([
    ['/nowhere', '/'],
    ['/a/b/c?d=/e/f', '/'],
    ['//nowhere', '/'],
    ['/stations/', '/'],
    ['/tse/nowhere', '/tse/'],
    ['/tse/a/b', '/tse/'],
    ['/tsea/b', '/'],
  ])('links from %s to %s', async (path, root) => {
    const { request } = await startApp({}, { externalUrl: new URL('https://example.com/tse') });
    const { tags } = parseHtml((await request(path, asBrowser)).body);
    const links = tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes['href'] ?? ''] : []));
    const targets = links
      .filter((link) => !link.startsWith('#'))
      .map((link) => new URL(link, `http://exporter${path}`).pathname);
    expect(targets).toContain(root);
    for (const target of targets) {
      expect(target.startsWith(root)).toBe(true);
      expect((await request(target)).status, target).toBe(200);
    }
  });
});

describe('rootFrom', () => {
  it.each([
    ['/', '', './'],
    ['/a', '', './'],
    ['/a/', '', '../'],
    ['/a/b/c', '', '../../'],
    ['/p/a', '/p', './'],
    ['/p/a/b', '/p', '../'],
    ['/pa/b', '/p', '../'],
  ])('of %s under the prefix "%s" is %s', (path, prefix, root) => {
    expect(rootFrom(path, prefix)).toBe(root);
  });
});
