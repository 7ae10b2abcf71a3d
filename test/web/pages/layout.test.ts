import { describe, expect, it } from 'vitest';
import { resourceOf } from '../../stations/fixtures.ts';
import { detailOf, exporterOf } from '../fake-station.ts';
import { startApp } from '../running-app.ts';
import { AS_BROWSER, openPage, shown } from './opened-page.ts';

describe('sendPage', () => {
  it.each([
    ['/', 'Stations'],
    ['/config', 'Configuration'],
    ['/stations/prod', undefined],
  ])('marks on %s the current page in the navigation: %s', async (path, current) => {
    const { body } = await openPage({}, path);
    expect(/aria-current="page">([^<]*)/.exec(body)?.[1]).toBe(current);
  });

  it('has the pages in the header, and the other endpoints and the version in the footer', async () => {
    const { body } = await openPage({}, '/no/such/page');
    const links = body.match(/<li><a href.*/g) ?? [];
    expect(links.map((link) => `${shown(link).text} ${shown(link).hrefs}`)).toEqual([
      'Stations ../../',
      'Resources ../../search',
      'Changes ../../changes',
      'Configuration ../../config',
      'Metrics ../../metrics',
      'Service discovery ../../sd',
      'Healthy ../../-/healthy',
      'Ready ../../-/ready',
    ]);
    expect(body).toContain('<link rel="icon" type="image/svg+xml" href="../../favicon.ico">');
    expect(body).toContain('<p>Version 1.2.3</p>');
  });

  it.each([
    ['/', '/'],
    ['/tse/', '/tse/'],
    ['/search?search=x', '/'],
    ['/tse/stations/a%2Fb', '/tse/'],
    ['/stations/a%2Fb/changes', '/'],
    ['/tse/stations/a%2Fb/resources/x%2Fy%252F', '/tse/'],
    ['/?format=xml', '/'],
    ['/nowhere', '/'],
    ['/a/b/c?d=/e/f', '/'],
    ['//nowhere', '/'],
    ['/stations/', '/'],
    ['/tse/a/b', '/tse/'],
    ['/tsea/b', '/'],
  ])('has on %s only links that work, below %s', async (path, root) => {
    const detail = detailOf([resourceOf('x/y%2F')], { spec: { name: 'a/b' } });
    const { request } = await startApp(exporterOf(detail), { externalUrl: new URL('https://example.com/tse') });
    const { hrefs } = shown((await request(path, AS_BROWSER)).body);
    const targets = hrefs
      .filter((href) => !href.startsWith('#'))
      .map((href) => new URL(href, `http://exporter${path}`));
    expect(targets.map(({ pathname }) => pathname)).toContain(root);
    for (const { pathname, search } of targets) {
      expect(pathname.startsWith(root), pathname).toBe(true);
      expect((await request(pathname + search)).status, pathname + search).toBe(200);
    }
  });
});

describe('favicon', () => {
  it('is an image without scripts and styles, which its policy would block', async () => {
    const { request } = await startApp();
    const { headers, body } = await request('/favicon.ico');
    expect(headers).toMatchObject({ 'cache-control': 'private, max-age=86400', 'content-type': 'image/svg+xml' });
    expect(body).toMatch(/^<svg /);
    expect(body).not.toMatch(/<script|style/);
  });
});
