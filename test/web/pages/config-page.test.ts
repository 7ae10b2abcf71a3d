import { describe, expect, it } from 'vitest';
import { NOW_MS } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { contentOf, openPage } from './opened-page.ts';

const TEXT = 'token: <secret>\nname: "<b>größe"\n';
const exporter = {
  configuration: () => TEXT,
  configurationFile: () => ({ file: '/etc/stations.yaml', loadedMs: NOW_MS - 65_000 }),
};

describe('configPage', () => {
  it('shows the configuration, its file and its age to a client that prefers HTML', async () => {
    const { headers, body, hrefs, text } = await openPage(exporter, '/config');
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept, Accept-Encoding' });
    const markup = contentOf(body, 'configuration');
    expect(markup).not.toContain('<b>');
    expect(parseHtml(markup).text).toBe(TEXT);
    expect(text).toContain('File/etc/stations.yaml Loaded2026-01-02 03:03:55 UTC, 1 min 5 s ago');
    expect(hrefs).toEqual(['?format=text']);
    expect((await openPage(exporter, '/config?format=text')).body).toBe(TEXT);
  });

  it('shows why a reload was rejected', async () => {
    const problems = ['config.yaml:1:1: stations: expected a list', 'config.yaml:2:1: unknown key'];
    const rejecting = { ...exporter, rejectedReload: () => ({ atMs: NOW_MS, problems }) };
    const { body, text } = await openPage(rejecting, '/config');
    expect(text).toContain(
      'Reloads have been rejected since 2026-01-02 03:05:00 UTC; the configuration below stays in force.',
    );
    expect(parseHtml(contentOf(body, 'rejected')).text).toContain(problems.join('\n'));
    expect((await openPage(exporter, '/config')).text).not.toContain('rejected');
  });
});
