import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../src/inventory/history.ts';
import { historySection } from '../../../src/web/pages/history.ts';
import { NOW_MS, STATION } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';

const MINUTE_MS = 60_000;

function entryAt(agoMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    ...{ atMs: NOW_MS - agoMs, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 0, durationMs: 250 },
    ...{ pages: 3, resources: 42, firing: 2, added: 0, removed: 0, stateChanges: 0 },
    ...changes,
  };
}

const failureAt = (agoMs: number, message = 'no reply'): HistoryEntry => ({
  ...{ atMs: NOW_MS - agoMs, refreshes: 1, failed: 1, outcome: 'failed', waitedMs: 0, durationMs: 10_000 },
  failure: { reason: 'timeout', message },
});

function section(history: readonly HistoryEntry[], status: Partial<typeof STATION> = {}): string {
  return historySection(history, { status: { ...STATION, ...status }, ttlMs: MINUTE_MS, nowMs: NOW_MS }).text;
}

const words = (markup: string) => parseHtml(markup).text.replace(/\s+/g, ' ');

describe('historySection', () => {
  it('says that no refresh has ended yet', () => {
    expect(words(section([]))).toContain('No refresh has ended yet.');
  });

  it('sums up the refreshes and lists what was not successful, the latest first', () => {
    const history = [
      ...Array.from({ length: 20 }, (_, index) => entryAt(index * MINUTE_MS)),
      ...Array.from({ length: 10 }, (_, index) => failureAt((20 + index) * MINUTE_MS)),
      entryAt(200 * MINUTE_MS, { outcome: 'incomplete' }),
    ];
    const text = words(section(history));
    expect(text).toContain(
      'Last 6 h: 31 refreshes, 10 failed (timeout), 1 incomplete. The history begins 3 h 20 min ago.',
    );
    expect(text).toContain(
      '02:35–02:45 (10 min 10 s) 10 refreshes failed: timeout Jan 1, 23:48–Jan 2, 02:35 (2 h 47 min) no refresh Jan 1, 23:44–23:48 (3 min) listing not verified complete',
    );
  });

  it('does not count the incomplete refreshes of a minute exactly, of which only the worst outcome is known', () => {
    const text = words(section([entryAt(0), entryAt(100 * MINUTE_MS, { refreshes: 12, outcome: 'incomplete' })]));
    expect(text).toContain('Last 3 h: 13 refreshes, none failed, at least 1 incomplete.');
  });

  it('shows the latest, smallest and largest number beside each line', () => {
    const history = [
      entryAt(0, { resources: 1234, firing: 0, durationMs: 90_000 }),
      entryAt(MINUTE_MS, { resources: 7 }),
      entryAt(2 * MINUTE_MS, { resources: 2000 }),
    ];
    const text = words(section(history));
    expect(text).toContain('Resources: 1,234 min 7, max 2,000');
    expect(text).toContain('Firing resources: 0 min 0, max 2');
    expect(text).toContain('Refresh duration: 1 min 30 s min 250 ms, max 1 min 30 s');
  });

  it('draws no line without a number', () => {
    const markup = section([failureAt(0)]);
    expect(words(markup)).toContain('Resources: – no refresh has succeeded');
    expect(markup.match(/<path /g)).toHaveLength(1);
  });

  it('interrupts the lines where there was no refresh', () => {
    const [, path = ''] =
      /<path d="([^"]*)"/.exec(section([entryAt(0), entryAt(MINUTE_MS), entryAt(30 * MINUTE_MS)])) ?? [];
    expect(path.match(/M/g)).toHaveLength(2);
  });

  it('lists the latest 20 refreshes, and 40 more in a part to open', () => {
    const markup = section(Array.from({ length: 100 }, (_, index) => entryAt(index * MINUTE_MS)));
    const [shown = '', opened = ''] = markup.slice(markup.indexOf('Recent refreshes')).split('<details>');
    expect(shown.match(/<tr>\n/g)).toHaveLength(20);
    expect(opened.match(/<tr>\n/g)).toHaveLength(40);
    expect(words(opened)).toContain('40 more');
    expect(words(opened)).toContain('All 100 entries: JSON, CSV');
    expect(opened).toContain('href="../stations/prod/history?format=csv"');
  });

  it('shows time, duration, wait, pages, counts and changes of a refresh', () => {
    const history = [
      entryAt(0, { waitedMs: 90_000, added: 1200, removed: 1, stateChanges: 3 }),
      entryAt(24 * 60 * MINUTE_MS),
    ];
    expect(words(section(history))).toContain(
      '03:05:00 succeeded 250 ms waited 1 min 30 s 3 42 2 1,200 added, 1 removed, 3 changed state Jan 1, 03:05:00 succeeded 250 ms 3 42 2 none',
    );
  });

  it('shows how many refreshes of a minute failed', () => {
    const history = [{ ...failureAt(0), refreshes: 12, failed: 5 }, entryAt(MINUTE_MS, { refreshes: 12 })];
    const text = words(section(history));
    expect(text).toContain('5 of 12 failed timeout: no reply');
    expect(text).toContain('12 refreshes, succeeded');
  });

  it('shows the reason alone when the message is no longer kept', () => {
    expect(words(section([failureAt(0, '')]))).toContain('failed timeout 10 s');
  });

  it('escapes what the service sent', () => {
    const markup = section([failureAt(0, '<script>alert(1)</script>')]);
    expect(markup).not.toContain('<script');
    expect(words(markup)).toContain('<script>alert(1)</script>');
  });

  it('has no downloads for a station whose name a browser would resolve as a path', () => {
    expect(section([entryAt(0)], { name: '..' })).not.toContain('format=csv');
  });

  it('names postponed and waiting refreshes', () => {
    const postponed = { ...failureAt(10 * MINUTE_MS, 'later'), failed: 0, outcome: 'postponed' as const };
    const text = words(section([postponed], { waitingMs: 5 * MINUTE_MS }));
    expect(text).toContain('(5 min) waiting for the capacity of the upstream');
    expect(text).toContain('refresh postponed by Retry-After');
    expect(text).toContain('1 refresh, none failed, 1 postponed.');
  });
});
