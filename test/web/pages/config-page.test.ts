import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html-parser.ts';
import { plainText, startApp } from '../running-app.ts';
import { AS_BROWSER, contentOf, openPage } from './opened-page.ts';

const TEXT = 'token: <secret>\nname: "<b>größe"\n';
const exporter = { configuration: () => TEXT };

describe('configPage', () => {
  it('shows the configuration to a client that prefers HTML, with a link to the text', async () => {
    const { status, headers, body, hrefs } = await openPage(exporter, '/config');
    expect([status, headers['content-type'], headers.vary]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept, Accept-Encoding',
    ]);
    const markup = contentOf(body, 'configuration');
    expect(markup).not.toContain('<b>');
    expect(parseHtml(markup).text).toBe(TEXT);
    expect(hrefs).toEqual(['?format=text']);
  });

  it.each([{}, { accept: '*/*' }, { accept: 'text/plain' }, { accept: 'application/yaml' }])(
    'is the text alone for a client that sends %j, and for a browser by the format',
    async (headers) => {
      const { request } = await startApp(exporter);
      expect(await request('/config', { headers })).toEqual(plainText(200, TEXT, { vary: 'Accept, Accept-Encoding' }));
      const response = await request('/config?format=text', AS_BROWSER);
      expect(response).toEqual(plainText(200, TEXT, { vary: 'Accept-Encoding' }));
    },
  );
});
