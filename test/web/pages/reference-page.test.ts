import { describe, expect, it } from 'vitest';
import { FAMILY_DESCRIPTIONS } from '../../../src/metrics/catalogue.ts';
import { parseHtml } from '../html-parser.ts';
import { contentOf, openPage, rowsOf } from './opened-page.ts';

describe('referencePage', () => {
  it('shows name, type, labels, help and an example of every family, each with its own anchor', async () => {
    const { headers, body } = await openPage({}, '/reference');
    expect(headers['content-security-policy']).not.toContain('script-src');
    expect(rowsOf(body, 'families')).toEqual(
      FAMILY_DESCRIPTIONS.map(({ name, type, labels, help, exampleTitle, example }) =>
        `${name} ${type} ${labels.join(', ')} ${help} ${exampleTitle}: ${example}`.replaceAll(/\s+/g, ' '),
      ),
    );
    // Long names can be broken after underscores.
    expect(body).toContain(
      '<tr id="telemetry_station_up">\n<th scope="row"><a class="code" href="#telemetry_station_up">telemetry_<wbr>station_<wbr>up</a>',
    );
  });
});

const TEXT = 'token: <secret>\nname: "<b>größe"\n';
const exporter = { configuration: () => TEXT };

describe('configPage', () => {
  it('shows the configuration to a client that prefers HTML, with a link to the text', async () => {
    const { headers, body, hrefs } = await openPage(exporter, '/config');
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept, Accept-Encoding' });
    const markup = contentOf(body, 'configuration');
    expect(markup).not.toContain('<b>');
    expect(parseHtml(markup).text).toBe(TEXT);
    expect(hrefs).toEqual(['?format=text']);
    expect((await openPage(exporter, '/config?format=text')).body).toBe(TEXT);
  });
});
