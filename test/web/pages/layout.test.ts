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
