import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Fault, limitedPages, NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import type { SourceEntry } from '../../src/simulator/listing.ts';
import { codePoint } from '../code-point.ts';
import { expectedData, INVALID_TIMES } from '../e2e/reference-model.ts';
import { dataOf, expectedState, stateOf, withoutCounters } from '../e2e/station-metrics.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import {
  fixedSize,
  inFirstListing,
  nullResources,
  reportedTotal,
  rowShift,
  type TestFault,
  wrongTotal,
} from '../simulator/simulated-service.ts';
import { startService } from '../upstream/support/service.ts';

const entriesOf = (records: readonly unknown[]): SourceEntry[] => records.map((record) => ({ record }));

describe('Exporter, over malformed records', () => {
  it('reads invalid UTF-8 and field names that are special in JavaScript', async () => {
    const rows = [
      '{"resource_id":"a\xed\xa0\x80z","name":"\xff"}',
      '{"resource_id":"b","__proto__":{"name":"evil","state":"EVIL"}}',
      '{"__proto__":{"resource_id":"evil"}}',
      '{"resource_id":"__proto__","alert_rules_count":1e400}',
      '{"resource_id":"c","resource_id":"d"}',
    ];
    const body = Buffer.from(`\xef\xbb\xbf{"resources":[${rows.join()}],"page":{"total":5},"__proto__":{}}`, 'latin1');
    const service = await startTestService({ faults: { ts: [replyWith(200, {}, body)] } });
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '1h' } }));
    const data = dataOf(await exporter.scrape());
    const read = [
      { resource_id: 'a\ufffd\ufffd\ufffdz', name: '\ufffd' },
      { resource_id: 'b' },
      {},
      { resource_id: '__proto__', alert_rules_count: -1 },
      { resource_id: 'd' },
    ];
    expect(data).toEqual(expectedData(read, { reported: 5, pages: 1 }));
  });
});

describe('Exporter, requests', () => {
  const filters = {
    resource_ids: ['a&b', 'c/d', 'é'],
    resource_type: 'resource_type.compute.x',
    resource_types: ['t 1', 't+2'],
    product: 'product.x',
    resource_display_name_prefix: '网=',
    enabled_alert: false,
  };
  const path =
    '/gateway/monitor/ts/data/v1/subscriptions/sub%2F1/resourceGroups/r%20g/zones/z%3F%23/telemetryStations/ts/resources';
  const paging = 'page.offset=0&page.size=10';
  const station = {
    subscription: 'sub/1',
    resource_group: 'r g',
    zone: 'z?#',
    telemetry_station: 'ts',
    filters,
    products: ['p/1'],
    alertability: true,
  };

  const targets = async (list_style: 'repeat' | 'comma') => {
    const service = await startService((_request, response) => response.end('{"resources":[]}'));
    const changes = { upstream: { list_style }, station, cache: { ttl: '1h' } };
    const exporter = await startReadyExporter(configOf(`${service.url}gateway`, ['ts'], changes));
    expect(stateOf(await exporter.scrape())).toEqual(expectedState(undefined));
    for (const { method, headers } of service.requests) {
      expect([method, headers.accept, headers['content-type']]).toEqual([
        'GET',
        'application/json',
        'application/json',
      ]);
    }
    return service.requests.map(({ url }) => url).sort();
  };

  it.each([
    [
      'repeat',
      'resource_ids=a%26b&resource_ids=c%2Fd&resource_ids=%C3%A9&resource_type=resource_type.compute.x&resource_types=t%201&resource_types=t%2B2',
    ],
    ['comma', 'resource_ids=a%26b,c%2Fd,%C3%A9&resource_type=resource_type.compute.x&resource_types=t%201,t%2B2'],
  ] as const)('sends every filter with every listing, with list style %s', async (style, lists) => {
    const rest = (product: string, enabled: boolean) =>
      `${path}?${lists}&product=${product}&resource_display_name_prefix=%E7%BD%91%3D&enabled_alert=${enabled}&${paging}`;
    expect(await targets(style)).toEqual(
      [rest('product.x', false), rest('product.x', true), rest('p%2F1', false)].sort(),
    );
  });
});

describe('Exporter, all families together', () => {
  it('publishes the expected numbers for random records and faults', async () => {
    const service = await startTestService();
    service.setRecords('ts', []);
    const config = configOf(service.url, ['ts'], { upstream: { page_size: 7, concurrency: 3 } });
    // All worlds are one station, whose labels have the values of all of them.
    const exporter = await startReadyExporter({ ...config, limits: { label_values: 100_000 } });
    await fc.assert(
      fc.asyncProperty(worlds, async ({ records, faults, hasTotal }) => {
        service.setRecords('ts', entriesOf(records));
        service.setFaults('ts', faults);
        service.clearRequests();
        const data = dataOf(await exporter.scrape());
        const outcome = {
          pages: service.requests.length,
          ...(hasTotal && { reported: records.length }),
        };
        expect(withoutCounters(data)).toEqual(withoutCounters(expectedData(records, outcome)));
      }),
      { numRuns: 40 },
    );
  });
});

const texts = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 12 }),
  fc.constantFrom('a', 'b', '"', '\\', '\n', '\ud800', '__proto__', 'é'.repeat(513)),
);
const nothings = fc.constantFrom(undefined, null);
const strangers = fc.oneof(fc.boolean(), fc.constantFrom({}, [], [1], { key: 1 }));
const either = (...usual: fc.Arbitrary<unknown>[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.oneof(...usual) }, nothings, strangers);
const times = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const fields = fc.record({
  resource_type: either(fc.record({ key: fc.constantFrom('t.a', 't.b', ''), label: texts }), fc.record({ key: texts })),
  create_time: either(times, fc.constantFrom(...INVALID_TIMES)),
  sku: either(
    texts,
    fc.tuple(fc.nat(99), fc.constantFrom('GPU', 'TiB')).map(([quantity, unit]) => `${quantity / 4} ${unit}`),
  ),
  state: either(fc.constantFrom('ALERTSTATE_INACTIVE', 'ALERTSTATE_FIRING', ''), fc.integer({ min: -3, max: 9 })),
  display_name: either(texts, fc.integer()),
  alert_rules_count: either(
    fc.integer({ min: -2, max: 1000 }),
    fc.nat(1000).map(String),
    fc.constantFrom(1.5, '', 'x'),
  ),
  name: either(texts),
  gpu_model: either(fc.constantFrom('', 'N4lS', 'H1')),
});
const rejected = fc.oneof(
  nothings.map(() => null),
  strangers,
  fc.record({ resource_id: fc.oneof(nothings, strangers, fc.constant(''), fc.integer()) }),
);

/** Without a total, pages of one record cannot be verified. */
const pageQuirks = (hasTotal: boolean): fc.Arbitrary<readonly Fault[]> =>
  fc
    .tuple(
      fc.constantFrom<Fault | undefined>(undefined, NAMED_FAULTS.text_numbers),
      fc.oneof(
        fc.constantFrom<Fault | undefined>(
          undefined,
          NAMED_FAULTS.ignored_size,
          ...(hasTotal ? [NAMED_FAULTS.short_pages] : []),
        ),
        fc.integer({ min: hasTotal ? 1 : 2, max: 9 }).map(limitedPages),
        fc.integer({ min: hasTotal ? 1 : 2, max: 30 }).map(fixedSize),
      ),
      fc.constantFrom<Fault | undefined>(undefined, nullResources),
    )
    .map((faults) => faults.filter((fault) => fault !== undefined));

const withTotal = fc.constantFrom<readonly TestFault[]>(
  [],
  [{ ...NAMED_FAULTS.moving_total, when: inFirstListing }],
  [{ ...wrongTotal(2), when: inFirstListing }],
  [{ ...rowShift([wireRecord('passing by')]), when: inFirstListing }],
);
const withoutTotal = fc.constantFrom<readonly Fault[]>(
  [NAMED_FAULTS.null_page],
  [NAMED_FAULTS.missing_page],
  [reportedTotal(undefined)],
);

const ids = fc.uniqueArray(
  fc.oneof(fc.string({ unit: codePoint, minLength: 1, maxLength: 8 }), fc.constantFrom('__proto__', '\n', '"')),
  {
    maxLength: 40,
  },
);

/** Pages with the same records again count once or are not verified, so no two records are equal. */
const worlds = fc.boolean().chain((hasTotal) =>
  ids.chain((unique) =>
    fc.record({
      records: fc.tuple(...unique.map((id) => record(id, hasTotal))).map(distinct),
      faults: fc
        .tuple(hasTotal ? withTotal : withoutTotal, pageQuirks(hasTotal))
        .map(([totals, pages]) => [...totals, ...pages]),
      hasTotal: fc.constant(hasTotal),
    }),
  ),
);

/** As they are sent. */
function distinct(records: readonly unknown[]): unknown[] {
  return [...new Map(records.map((value) => [JSON.stringify(value), value])).values()];
}

function record(id: string, mayBeRejected: boolean): fc.Arbitrary<unknown> {
  const usable = fields.map((values) => ({ resource_id: id, ...values }));
  return mayBeRejected ? fc.oneof({ weight: 5, arbitrary: usable }, rejected) : usable;
}
