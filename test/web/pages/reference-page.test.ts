import { describe, expect, it } from 'vitest';
import { FAMILY_DESCRIPTIONS } from '../../../src/metrics/catalogue.ts';
import { parseHtml } from '../html-parser.ts';
import { plainText, startApp } from '../running-app.ts';
import { AS_BROWSER, contentOf, openPage, rowsOf } from './opened-page.ts';

describe('referencePage', () => {
  it('shows name, type, labels, help and an example of every family, each with its own anchor', async () => {
    const { status, headers, body, tags } = await openPage({}, '/reference');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).not.toContain('script-src');
    expect(tags.flatMap(({ name, attributes }) => (name === 'tr' ? (attributes['id'] ?? []) : []))).toEqual(
      FAMILY_DESCRIPTIONS.map(({ name }) => name),
    );
    expect(rowsOf(body, 'families')).toEqual(
      FAMILY_DESCRIPTIONS.map(({ name, type, labels, help, exampleTitle, example }) =>
        `${name} ${type} ${labels.join(', ')} ${help} ${exampleTitle}: ${example}`.replaceAll(/\s+/g, ' '),
      ),
    );
    // Long names can be broken after underscores.
    expect(body).toContain('href="#telemetry_station_up">telemetry_<wbr>station_<wbr>up</a>');
  });
});

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
