import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html-parser.ts';
import { COMMON_HEADERS, startApp } from '../running-app.ts';

const HTML = { headers: { accept: 'text/html' } };

/** Paths of the pages, each with its path to the root. */
const PAGES = [
  ['/', './'],
  ['/reference', './'],
  ['/config', './'],
  ['/stations/prod', '../'],
  ['/stations/prod/resources/a', '../../../'],
  ['/no/such/page', '../../'],
] as const;

describe('sendPage', () => {
  it.each(PAGES)('has the same navigation on %s', async (path, root) => {
    const { request } = await startApp();
    const { body } = await request(path, HTML);
    const linksIn = (element: string) => {
      const [part = ''] = new RegExp(`<${element} class="site">[\\s\\S]*?</${element}>`).exec(body) ?? [];
      return Array.from(part.matchAll(/<li><a href="([^"]*)"[^>]*>([^<]*)/g), ([, href, words]) => `${words} ${href}`);
    };
    expect(linksIn('header')).toEqual([
      `Stations ${root}`,
      `Metrics reference ${root}reference`,
      `Service discovery ${root}sd`,
      `Configuration ${root}config`,
    ]);
    expect(linksIn('footer')).toEqual([`Metrics ${root}metrics`, `Healthy ${root}-/healthy`, `Ready ${root}-/ready`]);
    expect(body).toContain(`<link rel="icon" type="image/svg+xml" href="${root}favicon.ico">`);
  });

  it.each([
    ['/', 'Stations'],
    ['/reference', 'Metrics reference'],
    ['/config', 'Configuration'],
    ['/stations/prod', undefined],
  ])('marks in the navigation of %s the current page %s', async (path, current) => {
    const { request } = await startApp();
    const { body } = await request(path, HTML);
    expect(/aria-current="page">([^<]*)/.exec(body)?.[1]).toBe(current);
  });
});

describe('favicon', () => {
  it('is an image without scripts and styles, which its policy would block', async () => {
    const { request } = await startApp();
    const { status, headers, body } = await request('/favicon.ico');
    expect({ status, headers }).toEqual({
      status: 200,
      headers: {
        ...COMMON_HEADERS,
        'cache-control': 'private, max-age=86400',
        'content-type': 'image/svg+xml',
        'content-length': String(Buffer.byteLength(body)),
      },
    });
    expect(parseHtml(body).tags.map(({ name }) => name)).toEqual(['svg', 'rect', 'path']);
    expect(body).not.toContain('style');
  });
});
