import { beforeEach, describe, expect, it, vi } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { pick, type Random, randomFrom } from '../../src/simulator/random.ts';
import { type ParsedFamily, valuesOf } from '../exposition/parse-exposition.ts';
import { wrongTotal } from '../simulator/simulated-service.ts';
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

interface Fields {
  readonly type: string;
  readonly state: string;
  readonly rules: number | null;
  readonly name: string;
}

type World = ReadonlyMap<string, Fields>;

const IDS = Array.from({ length: 30 }, (_, index) => `r${index}`);

const randomFields = (random: Random): Fields => ({
  type: `type.${pick(random, ['a', 'b', 'c', 'd', 'e'])}`,
  state: pick(random, ['ALERTSTATE_INACTIVE', 'ALERTSTATE_FIRING', 'NEW', '']),
  rules: pick(random, [0, 1, 7, null]),
  name: pick(random, ['x', 'y']),
});

/** Adds, removes and changes some resources. */
function nextWorld(world: World, random: Random): World {
  const next = new Map(world);
  for (const id of IDS.filter(() => random() < 0.25)) {
    const known = next.get(id);
    if (known && random() < 0.3) next.delete(id);
    // Each field stays as it was more often than not.
    else next.set(id, { ...randomFields(random), ...(known && random() < 0.6 && { ...known, state: 'OTHER' }) });
  }
  return next;
}

const entriesFor = (world: World) =>
  Array.from(world, ([id, { type, state, rules, name }]) => ({
    record: wireRecord(id, { resource_type: { key: type }, state, alert_rules_count: rules, name }),
  }));

interface Expected {
  readonly atMs: number;
  readonly change: string;
  readonly id: string;
  /** Before and after. */
  readonly types: readonly (string | undefined)[];
  readonly from: string | number | null;
  readonly to: string | number | null;
}

/** What happened between two complete listings. */
function expectedChanges(before: World, after: World, atMs: number): Expected[] {
  return IDS.flatMap((id): Expected[] => {
    const [old, now] = [before.get(id), after.get(id)];
    const common = { atMs, id, types: [old?.type, now?.type] };
    if (!old && !now) return [];
    if (!old) return [{ ...common, change: 'added', from: null, to: now?.state || null }];
    if (!now) return [{ ...common, change: 'removed', from: old.state || null, to: null }];
    if (old.type !== now.type) return [{ ...common, change: 'type', from: old.type, to: now.type }];
    const changed = { state: [old.state, now.state], rules: [old.rules, now.rules] } as const;
    return Object.entries(changed).flatMap(([change, [from, to]]) =>
      from === to || from === '' || to === '' || from === null || to === null ? [] : [{ ...common, change, from, to }],
    );
  });
}

const count = (changes: readonly Expected[], ...kinds: string[]) =>
  changes.filter(({ change }) => kinds.includes(change)).length;

/** As the latest refreshes show them: a changed type is one removed and one added. */
function refreshText(changes: readonly Expected[]): string {
  const counts = {
    added: count(changes, 'added', 'type'),
    removed: count(changes, 'removed', 'type'),
    'changed state': count(changes, 'state'),
    'changed rules': count(changes, 'rules'),
  };
  const texts = Object.entries(counts).flatMap(([what, number]) => (number > 0 ? [`${number} ${what}`] : []));
  return texts.join(', ') || 'none';
}

const sumOf = (families: ReadonlyMap<string, ParsedFamily>, family: string, resourceType?: string) =>
  (families.get(`telemetry_station_${family}_total`)?.samples ?? [])
    .filter(({ labels }) => resourceType === undefined || labels['resource_type'] === resourceType)
    .reduce((sum, { value }) => sum + value, 0);

async function startStation(limits: object = {}) {
  const service = await startTestService({ source: () => [] });
  const config = { ...configOf(service.url, ['ts']), limits };
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
  it.each([1, 2, 3, 4])('agree on the page, in JSON, CSV, refreshes, log and metrics, seed %i', async (seed) => {
    const random = randomFrom(seed);
    // With two values, most types are published as (other).
    const isFolded = seed % 2 === 0;
    const { service, config, scrape, get, read, json, log, rewrite, exporter } = await startStation({
      label_values: isFolded ? 2 : 1000,
    });
    let world: World = new Map();
    let complete = world;
    const all: Expected[] = [];
    for (let minute = 1; minute <= 40; minute += 1) {
      const atMs = START_MS + minute * MINUTE_MS;
      const iso = new Date(atMs).toISOString();
      vi.setSystemTime(atMs);
      world = nextWorld(world, random);
      const outcome = pick(random, ['complete', 'complete', 'complete', 'rejected', 'incomplete', 'failed']);
      // Never the same record twice, so that the changes wait for the next complete listing.
      const rejected = outcome === 'rejected' ? [{ record: { name: `without an ID ${minute}` } }] : [];
      service.setRecords('ts', [...entriesFor(world), ...rejected]);
      if (outcome === 'incomplete') service.setFaults('ts', [wrongTotal(3)]);
      else service.setFaults('ts', outcome === 'failed' ? [replyWith(500)] : []);
      if (minute % 10 === 0) {
        // The station itself does not change.
        const names = minute % 20 === 0 ? ['ts'] : ['ts', 'more'];
        rewrite({ ...config, stations: configOf(service.url, names).stations });
        expect(await exporter.reload()).toEqual([]);
      }
      log.length = 0;
      const families = await scrape();
      const changes = outcome === 'complete' ? expectedChanges(complete, world, atMs) : [];
      if (outcome === 'complete') complete = world;
      all.push(...changes);

      const sorted = changes.map(({ id, change, from, to }) => [iso, change, id, from, to].join()).toSorted();
      const rows = (await json(`&since=${iso}&until=${iso}`)).changes;
      const fields = ({ time, change, resource_id, from, to }: (typeof rows)[number]) =>
        [time, change, resource_id, from, to].join();
      expect(rows.map(fields).toSorted(), `minute ${minute}`).toEqual(sorted);
      const logged = log.flatMap((line) => / change=(\w+) resource_id=(\w+)/.exec(line)?.slice(1).join() ?? []);
      expect(logged.toSorted()).toEqual(changes.map(({ change, id }) => `${change},${id}`).toSorted());

      const [latest] = (await (await get('/stations/ts/refreshes?format=json')).json()) as Record<string, unknown>[];
      const shownAs = outcome === 'rejected' ? 'incomplete' : outcome;
      expect(latest).toMatchObject({ time: iso, outcome: outcome === 'complete' ? 'succeeded' : shownAs });
      if (outcome === 'complete') {
        const link = `<a href="../stations/ts/changes?since=${encodeURIComponent(iso)}&#38;until=${encodeURIComponent(iso)}">`;
        expect(await read('/stations/ts')).toContain(
          changes.length === 0 ? 'none' : `${link}${refreshText(changes)}</a>`,
        );
      }
      if (outcome !== 'failed') {
        const infos = families.get('telemetry_station_resource_info')?.samples.length ?? 0;
        expect(infos === 0 || infos === world.size).toBe(true);
      }
    }

    const page = await read('/stations/ts/changes');
    const shown = Array.from(page.matchAll(/data-label="Change"><span>(\w+)<[\s\S]*?code">(\w+)</g), (found) =>
      found.slice(1),
    );
    const { changes, dropped } = await json();
    expect(dropped).toBe(0);
    expect(changes).toHaveLength(all.length);
    expect(shown).toEqual(changes.slice(0, 100).map(({ change, resource_id }) => [change, resource_id]));
    expect(changes.map(({ time }) => time)).toEqual(
      changes
        .map(({ time }) => time)
        .toSorted()
        .toReversed(),
    );
    const csv = await (await get('/stations/ts/changes?format=csv')).text();
    const lines = [Object.keys(changes[0] ?? {}), ...changes.map((row) => Object.values(row).map(csvCell))];
    expect(csv).toBe(lines.map((line) => `${line.join()}\r\n`).join(''));
    // What a refresh counts for a new series is published by the next one.
    service.setFaults('ts', []);
    service.setRecords('ts', entriesFor(complete));
    const families = await scrape();
    for (const [id] of complete) {
      const own = parseHtml(await read(`/stations/ts/resources/${id}`)).tags;
      const observed = own.filter(({ attributes }) => attributes['data-label'] === 'Change');
      expect(observed).toHaveLength(Math.min(20, all.filter((change) => change.id === id).length));
    }

    expect(sumOf(families, 'resources_added')).toBe(count(all, 'added', 'type'));
    expect(sumOf(families, 'resources_removed')).toBe(count(all, 'removed', 'type'));
    expect(sumOf(families, 'resource_state_changes')).toBe(count(all, 'state'));
    for (const type of isFolded ? [] : ['type.a', 'type.b', 'type.c', 'type.d', 'type.e']) {
      const ofType = (at: number) => all.filter(({ types }) => types[at] === type);
      expect(sumOf(families, 'resources_added', type)).toBe(count(ofType(1), 'added', 'type'));
      expect(sumOf(families, 'resources_removed', type)).toBe(count(ofType(0), 'removed', 'type'));
      expect(sumOf(families, 'resource_state_changes', type)).toBe(count(ofType(1), 'state'));
    }
  });

  it('are not known while refreshes fail, and those before a reload of another key are not forgotten', async () => {
    const { service, config, scrape, read, rewrite, exporter } = await startStation();
    const tile = async () => /Resources[\d,]+(.*?) Firing/.exec(textOf(await read('/'), 'totals'))?.[1];
    const refreshAfter = async (minutes: number) => {
      vi.setSystemTime(Date.now() + minutes * MINUTE_MS);
      await scrape();
      return tile();
    };
    expect(await refreshAfter(1)).toBe('');
    service.setFaults('ts', [replyWith(500)]);
    await refreshAfter(1);
    expect(parseHtml(await read('/stations/ts/changes')).text).toContain(
      'No changes found since 03:00 UTC; those since the last success are unknown.',
    );
    service.setFaults('ts', []);
    service.setRecords('ts', entriesOf(32));
    expect(await refreshAfter(1)).toBe('+32 since 03:03 UTC');
    rewrite({ ...config, cache: { ...config.cache, max_stale: '5h' } });
    expect(await exporter.reload()).toEqual([]);
    expect(await refreshAfter(11)).toBe('+32 since 03:03 UTC');
    service.setFaults('ts', [replyWith(500)]);
    expect(await refreshAfter(1)).toBe('+32 since 03:03 UTC');
  });

  it('are a loss by the numbers that the alert compares, which neither a failure nor an incomplete listing changes', async () => {
    const { service, scrape, read } = await startStation();
    const lossAfter = async (
      resources: number,
      hours: number,
      faults: Parameters<typeof service.setFaults>[1] = [],
    ) => {
      vi.setSystemTime(Date.now() + hours * 60 * MINUTE_MS);
      service.setRecords('ts', entriesOf(resources));
      service.setFaults('ts', faults);
      const families = await scrape();
      const verified = valuesOf(families, 'telemetry_station_verified_resources');
      const [loss] =
        /\d+ of \d+ resources are gone since [\d:]+/.exec(parseHtml(await read('/stations/ts')).text) ?? [];
      return [verified[''], loss];
    };
    expect(await lossAfter(20, 1)).toEqual([20, undefined]);
    expect(await lossAfter(4, 1, [replyWith(500)])).toEqual([20, undefined]);
    expect(await lossAfter(4, 1, [wrongTotal(9)])).toEqual([20, undefined]);
    expect(await lossAfter(16, 1)).toEqual([16, undefined]);
    expect(await lossAfter(15, 1)).toEqual([15, '5 of 20 resources are gone since 07:00']);
    expect(await lossAfter(15, 1, [replyWith(500)])).toEqual([15, '5 of 20 resources are gone since 07:00']);
    expect(await lossAfter(15, 4)).toEqual([15, undefined]);
  });
});

/** Texts are quoted, numbers are not, and what is unknown is empty. */
function csvCell(value: unknown): string {
  return typeof value === 'string' && value !== '' ? `"${value}"` : String(value ?? '');
}
