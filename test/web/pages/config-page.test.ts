import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html-parser.ts';
import { plainText, startApp } from '../running-app.ts';

const HTML = { headers: { accept: 'text/html,*/*;q=0.8' } };
const TEXT = 'token: <secret>\nname: "<b>größe"\n';

describe('configPage', () => {
  it('shows the configuration in the page design to a client that prefers HTML', async () => {
    const { request } = await startApp({ configuration: () => TEXT });
    const { status, headers, body } = await request('/config', HTML);
    expect([status, headers['content-type'], headers.vary]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept, Accept-Encoding',
    ]);
    const [, shown = ''] = /<pre id="configuration"[^>]*>([\s\S]*?)<\/pre>/.exec(body) ?? [];
    expect(shown).not.toContain('<b>');
    expect(parseHtml(shown).text).toBe(TEXT);
    expect(body).toContain('<a href="./config" aria-current="page">Configuration</a>');
  });

  it.each([undefined, '*/*', 'text/plain', 'application/yaml'])(
    'is the text alone for a client that accepts %s',
    async (accept) => {
      const { request } = await startApp({ configuration: () => TEXT });
      const response = await request('/config', { headers: accept === undefined ? {} : { accept } });
      expect(response).toEqual(plainText(200, TEXT, { vary: 'Accept, Accept-Encoding' }));
    },
  );

  it('links to its text, which a browser gets by the format', async () => {
    const { request } = await startApp({ configuration: () => TEXT });
    expect((await request('/config', HTML)).body).toContain('<a href="?format=text">');
    expect(await request('/config?format=text', HTML)).toEqual(plainText(200, TEXT, { vary: 'Accept-Encoding' }));
  });

  it('shows the configuration of a reload', async () => {
    let text = 'a: 1\n';
    const { request } = await startApp({ configuration: () => text });
    expect((await request('/config', HTML)).body).toContain('a: 1\n</pre>');
    text = 'a: 2\n';
    expect((await request('/config', HTML)).body).toContain('a: 2\n</pre>');
  });
});
