import { beforeEach, describe, expect, it, vi } from 'vitest';
import { replyWith, wrongTotal } from '../../lab/simulator/faults.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { parseHtml } from '../web/html-parser.ts';
import { textOf } from '../web/pages/opened-page.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from './test-bed.ts';

const START_MS = Date.UTC(2026, 0, 2, 3, 0, 0);
const MINUTE_MS = 60_000;

/** Only the dates are virtual: each refresh ends in a minute of its own. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_MS });
  return () => vi.useRealTimers();
});

async function startStation() {
  const service = await startTestService({ source: () => [] });
  const config = configOf(service.url, ['ts']);
  const exporter = await startReadyExporter(config, { logChanges: true });
  const read = async (path: string) => (await exporter.get(path, { Accept: 'text/html' })).text();
  const json = async (query = '') =>
    (await (await exporter.get(`/stations/ts/changes?format=json${query}`)).json()) as {
      readonly dropped: number;
      readonly changes: readonly Record<string, string | number | null>[];
    };
  return { service, config, ...exporter, read, json };
}

describe('the changes of a station', () => {
  it('are the same on the page, in JSON, CSV, refreshes, log and metrics, and wait for a listing that adds up', async () => {
    const { service, config, scrape, get, read, json, log, rewrite, exporter } = await startStation();
    const setRecords = (records: Readonly<Record<string, object>>) =>
      service.setRecords(
        'ts',
        Object.entries(records).map(([id, fields]) => ({ record: wireRecord(id, fields) })),
      );
    setRecords({ state: {}, rules: {}, type: {}, gone: {} });
    await scrape();
    setRecords({
      state: { state: 'ALERTSTATE_FIRING' },
      rules: { alert_rules_count: 7 },
      type: { resource_type: { key: 'type.b' } },
      added: {},
    });
    service.setFaults('ts', [wrongTotal(9)]);
    log.length = 0;
    await scrape();
    expect((await json()).changes).toHaveLength(4);
    vi.setSystemTime(START_MS + MINUTE_MS);
    service.setFaults('ts', []);
    await scrape();

    const time = new Date(START_MS + MINUTE_MS).toISOString();
    const { changes } = await json(`&since=${time}`);
    expect(changes.map(({ change, resource_id, from, to }) => [change, resource_id, from, to])).toEqual([
      ['added', 'added', null, 'ALERTSTATE_INACTIVE'],
      ['type', 'type', 'resource_type.compute.x', 'type.b'],
      ['rules', 'rules', 1, 7],
      ['state', 'state', 'ALERTSTATE_INACTIVE', 'ALERTSTATE_FIRING'],
      ['removed', 'gone', 'ALERTSTATE_INACTIVE', null],
    ]);
    const csv = await (await get(`/stations/ts/changes?format=csv&since=${time}`)).text();
    const lines = [Object.keys(changes[0] ?? {}), ...changes.map((row) => Object.values(row).map(csvCell))];
    expect(csv).toBe(lines.map((line) => `${line.join()}\r\n`).join(''));
    const page = await read(`/stations/ts/changes?since=${time}`);
    const shown = Array.from(page.matchAll(/data-label="Change"><span>(\w+)</g), ([, change]) => change);
    expect(shown).toEqual(changes.map(({ change }) => change));
    const logged = log.flatMap((line) => / change=(\w+) /.exec(line)?.[1] ?? []);
    expect(logged.toSorted()).toEqual(shown.toSorted());
    // A changed type is one removed and one added.
    expect(await read('/stations/ts')).toContain(
      `&#38;until=${encodeURIComponent(time)}">2 added, 2 removed, 1 changed state, 1 changed rules</a>`,
    );
    // What a refresh counts for a new series is published by the next one.
    const families = await scrape();
    const counted = (name: string, ...labels: string[]) =>
      valuesOf(families, `telemetry_station_${name}_total`, 'resource_type', ...labels);
    expect(counted('resources_added')).toEqual({ 'resource_type.compute.x': 5, 'type.b': 1 });
    expect(counted('resources_removed')).toEqual({ 'resource_type.compute.x': 2, 'type.b': 0 });
    expect(counted('resource_state_changes', 'state')).toMatchObject({
      'resource_type.compute.x|ALERTSTATE_FIRING': 1,
      'resource_type.compute.x|ALERTSTATE_INACTIVE': 0,
    });
    rewrite({ ...config, metrics: { per_resource: false } });
    expect(await exporter.reload()).toEqual([]);
    expect((await json(`&since=${time}`)).changes).toEqual(changes);
  });

  it('are a loss by the numbers that the alert compares, which neither a failure nor an incomplete listing changes', async () => {
    const { service, scrape, read } = await startStation();
    const shownAfter = async (
      resources: number,
      hours: number,
      faults: Parameters<typeof service.setFaults>[1] = [],
    ) => {
      vi.setSystemTime(Date.now() + hours * 60 * MINUTE_MS);
      service.setRecords('ts', entriesOf(resources));
      service.setFaults('ts', faults);
      const verified = valuesOf(await scrape(), 'telemetry_station_verified_resources');
      const [loss] =
        /\d+ of \d+ resources are gone since [\d:]+/.exec(parseHtml(await read('/stations/ts')).text) ?? [];
      const [, tile] = /Resources\d+(.*?) Firing/.exec(textOf(await read('/'), 'totals')) ?? [];
      return [verified[''], loss, tile];
    };
    expect(await shownAfter(20, 1)).toEqual([20, undefined, '+20 since 04:00 UTC']);
    expect(await shownAfter(4, 1, [replyWith(500)])).toEqual([20, undefined, '+20 since 04:00 UTC']);
    expect(await shownAfter(4, 1, [wrongTotal(9)])).toEqual([20, undefined, '']);
    expect(await shownAfter(16, 1)).toEqual([16, undefined, '−4 since 07:00 UTC']);
    const loss = '5 of 20 resources are gone since 07:00';
    expect(await shownAfter(15, 1)).toEqual([15, loss, '−5 since 07:00 UTC']);
    expect(await shownAfter(15, 1, [replyWith(500)])).toEqual([15, loss, '−1 since 08:00 UTC']);
    expect(await shownAfter(15, 4)).toEqual([15, undefined, '']);
  });
});

/** Texts are quoted, numbers are not, and what is unknown is empty. */
function csvCell(value: unknown): string {
  return typeof value === 'string' && value !== '' ? `"${value}"` : String(value ?? '');
}
