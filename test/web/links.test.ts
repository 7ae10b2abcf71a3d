import { describe, expect, it } from 'vitest';
import { linksOf } from '../../src/web/links.ts';
import { resourceOf, specOf } from '../stations/fixtures.ts';

const HOSTILE = `"><script>alert(1)</script>&x=#?/..\\ '()*%7B{station}\ud800\u0000`;

const hrefs = (links: readonly { readonly url: string }[]) => links.map(({ url }) => url);

describe('linksOf', () => {
  it('encodes every value, so that it stays one part of the URL', () => {
    const [url = ''] = hrefs(
      linksOf([{ name: 'n', station: 'https://h/a/{station}?q={station}&r=1#{station}' }], specOf({ name: HOSTILE })),
    );
    const parsed = new URL(url);
    expect(url).toMatch(/^[\w:/?&=#%.~-]+$/);
    expect(parsed.host).toBe('h');
    expect([...parsed.searchParams]).toEqual([
      ['q', HOSTILE.toWellFormed()],
      ['r', '1'],
    ]);
    expect(decodeURIComponent(parsed.pathname)).toBe(`/a/${HOSTILE.toWellFormed()}`);
  });

  it('replaces the placeholders of the station and of the resource; a missing value is empty', () => {
    const resource = resourceOf('a/b', { name: 'web 1', type: 't', alertRules: undefined, alertable: true });
    const template =
      'https://h/{station}?id={resource_id}&name={name}&type={resource_type}&rules={alert_rules}&alertable={alertable}';
    expect(hrefs(linksOf([{ name: 'n', resource: template }], specOf({ name: 'prod' }), resource))).toEqual([
      'https://h/prod?id=a%2Fb&name=web%201&type=t&rules=&alertable=true',
    ]);
  });
});
