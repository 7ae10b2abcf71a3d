import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../src/web/port.ts';
import { stationRow } from '../../src/web/status-row.ts';
import { STATION } from './fake-exporter.ts';
import { parseHtml } from './html-parser.ts';
import { COMMON_HEADERS, startApp } from './running-app.ts';

const FAILING: StationStatus = {
  ...STATION,
  name: 'a&b <c>',
  up: false,
  failure: { reason: 'timeout', message: 'no answer\nin 10 s' },
  snapshot: { resources: 42, complete: false, pages: 3, alertable: undefined, withoutRules: undefined },
};
const FRESH: StationStatus = {
  ...STATION,
  name: 'new',
  up: undefined,
  lastSuccessMs: undefined,
  lastAttemptMs: undefined,
  snapshot: undefined,
};

describe('statusPage', () => {
  it('is a page that may load nothing but its own style', async () => {
    const { ask } = await startApp();
    const { status, headers, body } = await ask('/');
    const style = /<style>([\s\S]*?)<\/style>/.exec(body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect({ status, headers }).toEqual({
      status: 200,
      headers: {
        ...COMMON_HEADERS,
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(Buffer.byteLength(body)),
        'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      },
    });
    expect(body).not.toMatch(/<script|style=|\son\w+=/i);
  });

  it('names the version and counts the stations by state', async () => {
    const { ask } = await startApp({ stations: () => [STATION, FAILING, FRESH, { ...STATION, name: 'other' }] });
    expect((await ask('/')).body).toContain('<p>Version 1.2.3 · 4 stations: 2 up, 1 failing, 1 not tried</p>');
  });

  it('holds one row per station, in their order', async () => {
    const stations = [FAILING, STATION, FRESH];
    const { ask } = await startApp({ stations: () => stations });
    expect((await ask('/')).body).toContain(`<tbody>\n${stations.map((station) => stationRow(station).text).join('')}</tbody>`);
  });

  it('links to every endpoint that reads, and each link leads somewhere', async () => {
    const { ask } = await startApp({ stations: () => [FAILING] }, { telemetryPath: '/deep/metrics' });
    const { tags } = parseHtml((await ask('/')).body);
    const links = tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes['href'] ?? ''] : []));
    expect(links).toEqual(['./deep/metrics', './sd', './config', './-/healthy', './-/ready', './probe?station=a%26b+%3Cc%3E']);
    for (const link of links) expect((await ask(link.slice(1))).status, link).toBe(200);
  });
});

describe('stationRow', () => {
  it('shows a station that is up', () => {
    expect(stationRow(STATION).text).toBe(`<tr>
<th scope="row" data-label="Station"><a href="./probe?station=prod">prod</a></th>
<td data-label="Upstream"><span>main</span></td>
<td data-label="Telemetry station"><span>ts-1</span></td>
<td data-label="State"><span class="state up">up</span></td>
<td class="number" data-label="Resources">42</td>
<td data-label="Complete">yes</td>
<td data-label="Last success"><time datetime="2026-01-02T03:04:05.000Z">2026-01-02T03:04:05.000Z</time></td>
</tr>
`);
  });

  it('shows why a station fails', () => {
    expect(cells(FAILING)).toEqual([
      'a&b <c>',
      'main',
      'ts-1',
      'failingtimeout: no answer\nin 10 s',
      '42',
      'no',
      '2026-01-02T03:04:05.000Z',
    ]);
  });

  it('shows a failing station whose reason is not known', () => {
    expect(cells({ ...FAILING, failure: undefined })[3]).toBe('failing');
  });

  it('shows a station that was not tried yet', () => {
    expect(cells(FRESH)).toEqual(['new', 'main', 'ts-1', 'not tried', '–', '–', '–']);
  });

  it('shows hostile texts as the texts they are, and lets no tag through', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc
        .array(
          fc.constantFrom(
            '<script>',
            '</td>',
            '<!--',
            '"',
            "'",
            '>',
            '<',
            '&lt;',
            '&#60;',
            '&',
            '=',
            'javascript:',
            '\r',
            '\n',
            '\0',
            '\uD800',
          ),
        )
        .map((pieces) => pieces.join('')),
    );
    const tagsOf = (station: StationStatus) => parseHtml(stationRow(station).text).tags.map(({ name }) => name);
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (name, upstream, telemetryStation, message) => {
        const station: StationStatus = { ...FAILING, name, upstream, telemetryStation, failure: { reason: 'body', message } };
        const visible = [name, upstream, telemetryStation, `failingbody: ${message}`].map((text) =>
          text.toWellFormed().replaceAll('\0', '\uFFFD'),
        );
        expect(cells(station).slice(0, 4)).toEqual(visible);
        expect(tagsOf(station)).toEqual(tagsOf(FAILING));
        const href = parseHtml(stationRow(station).text).tags.find((tag) => tag.name === 'a')?.attributes['href'] ?? '';
        expect(new URL(href, 'http://exporter/').searchParams.get('station')).toBe(name.toWellFormed());
      }),
    );
  });
});

/** The text of each cell of the station's row. */
function cells(station: StationStatus): string[] {
  const matches = stationRow(station).text.matchAll(/<(?:td|th)\b[^>]*>([\s\S]*?)<\/(?:td|th)>/g);
  return [...matches].map(([, cell]) => parseHtml(cell ?? '').text);
}
