import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html-parser.ts';
import { COMMON_HEADERS, startApp } from '../running-app.ts';
import { openPage } from './opened-page.ts';

describe('sendPage', () => {
  it.each([
    ['/', './', 'Stations'],
    ['/reference', './', 'Metrics reference'],
    ['/config', './', 'Configuration'],
    ['/stations/prod', '../', undefined],
    ['/stations/prod/resources/a', '../../../', undefined],
    ['/no/such/page', '../../', undefined],
  ])('has on %s the same navigation, with links from %s and the current page %s', async (path, root, current) => {
    const { body } = await openPage({}, path);
    const linksIn = (element: string) => {
      const [part = ''] = new RegExp(`<${element} class="site">[\\s\\S]*?</${element}>`).exec(body) ?? [];
      return Array.from(part.matchAll(/<li><a href="([^"]*)"[^>]*>([^<]*)/g), ([, href, words]) => `${words} ${href}`);
    };
    expect(linksIn('header')).toEqual([
      `Stations ${root}`,
      `Metrics reference ${root}reference`,
      `Configuration ${root}config`,
    ]);
    expect(linksIn('footer')).toEqual([
      `Metrics ${root}metrics`,
      `Service discovery ${root}sd`,
      `Healthy ${root}-/healthy`,
      `Ready ${root}-/ready`,
    ]);
    expect(body).toContain(`<link rel="icon" type="image/svg+xml" href="${root}favicon.ico">`);
    expect(/aria-current="page">([^<]*)/.exec(body)?.[1]).toBe(current);
    expect(body).toContain('<p>Version 1.2.3</p>');
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
