import { describe, expect, it } from 'vitest';
import type { EndedRefresh } from '../../../src/status/latest-refreshes.ts';
import { refreshesSection } from '../../../src/web/pages/refreshes-section.ts';
import { success } from '../../status/ended-refresh.ts';
import { detailOf, NOW_MS } from '../fake-station.ts';
import { rowsOf, shown } from './opened-page.ts';

const MINUTE_MS = 60_000;

const COLUMNS = ['Ended (UTC)', 'Outcome', 'Duration', 'Pages', 'Resources', 'Firing', 'Changes'];

const successAt = (agoMs: number, changes?: Partial<EndedRefresh>) => success(NOW_MS - agoMs, changes);

function section(refreshes: readonly EndedRefresh[]): string {
  return refreshesSection({ ...detailOf([], { refreshes }), nowMs: NOW_MS }).text;
}

describe('refreshesSection', () => {
  it('says that no refresh has ended yet', () => {
    expect(shown(section([])).text).toBe('No refresh has ended yet.');
  });

  it.each<[what: string, refresh: EndedRefresh, row: string]>([
    [
      'times, pages, counts and changes',
      successAt(0, { waitedMs: 90_000, added: 1200, removed: 1, stateChanges: 3, rulesChanges: 2 }),
      '03:05:00 succeeded 250 ms waited 1 min 30 s 3 42 2 1,200 added, 1 removed, 3 changed state, 2 changed rules',
    ],
    [
      'the day, and no short wait',
      successAt(1440 * MINUTE_MS, { waitedMs: 999 }),
      '01 Jan 03:05:00 succeeded 250 ms 3 42 2 none',
    ],
    [
      'how many resources may be firing besides',
      successAt(0, { outcome: 'incomplete', unknown: 7 }),
      '03:05:00 incomplete 250 ms 3 42 2 7 unknown none',
    ],
    [
      'the failure, and no numbers',
      {
        atMs: NOW_MS,
        outcome: 'failed',
        waitedMs: 0,
        durationMs: 10_000,
        failure: { reason: 'timeout', message: 'no reply' },
      },
      '03:05:00 failed timeout: no reply 10 s – not known – not known – not known – not known',
    ],
  ])('shows of a refresh %s', (_what, refresh, row) => {
    expect(rowsOf(section([refresh]), 'refreshes', COLUMNS)).toEqual([row]);
  });

  it('shows all of them, the newest first, and links to them as CSV and JSON', () => {
    const markup = section(Array.from({ length: 60 }, (_, at) => successAt(at * MINUTE_MS)));
    const rows = rowsOf(markup, 'refreshes');
    expect([rows.length, rows[0]?.slice(0, 8), rows[59]?.slice(0, 8)]).toEqual([60, '03:05:00', '02:06:00']);
    expect(shown(markup).hrefs).toEqual(['csv', 'json'].map((format) => `../stations/prod/refreshes?format=${format}`));
  });

  it('counts the outcomes before it is opened', () => {
    const refreshes = [successAt(0, { outcome: 'postponed' }), successAt(0), successAt(0)];
    expect(shown(section(refreshes)).text).toMatch(/^Latest refreshes: 1 postponed, 2 succeeded /);
  });

  it('links to the changes that a refresh found', () => {
    const time = '2026-01-02T03%3A05%3A00.000Z';
    expect(shown(section([successAt(0, { removed: 1 })])).hrefs).toContain(
      `../stations/prod/changes?since=${time}&until=${time}`,
    );
  });
});
