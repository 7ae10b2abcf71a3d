import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fault, limitedPages, NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import type { SourceEntry } from '../../src/simulator/listing.ts';
import { codePoint } from '../code-point.ts';
import { expectedData, INVALID_TIMES, type ListingOutcome } from '../e2e/reference-model.ts';
import { dataOf, expectedState, stateOf, withoutCounters } from '../e2e/station-metrics.ts';
import {
  configOf,
  type RunningExporter,
  recordsOf,
  startExporter,
  startReadyExporter,
  startTestService,
  variedEntries,
  wireRecord,
} from '../e2e/test-bed.ts';
import {
  atOffset,
  fixedSize,
  inFirstListing,
  nullResources,
  reportedTotal,
  rowShift,
  type SimulatedService,
  startSimulatedService,
  type TestFault,
  uncountedDuplicates,
  wrongTotal,
} from '../simulator/simulated-service.ts';
import { startService } from '../upstream/support/service.ts';

interface FaultCase {
  readonly faults: readonly TestFault[];
  readonly count?: number;
  /** Number of records that can be listed; by default all. */
  readonly reached?: number;
  readonly outcome: Omit<ListingOutcome, 'pages'>;
}

const newRow = [wireRecord('new')];
const noTotal = NAMED_FAULTS.null_page;
const complete25 = { complete: true, reported: 25 } as const;
const completeWithoutTotal = { complete: true } as const;
const incomplete = { complete: false, reported: 25 } as const;

/** For 25 records with a page size of 10. */
const FAULT_CASES: Record<string, FaultCase> = {
  'no fault': { faults: [], outcome: complete25 },
  'a page that is missing': { faults: [NAMED_FAULTS.missing_page], outcome: completeWithoutTotal },
  'a page that is sometimes null': { faults: [{ ...noTotal, when: atOffset(10) }], outcome: complete25 },
  'a first page that is null': { faults: [{ ...noTotal, when: atOffset(0) }], outcome: complete25 },
  'capped pages without a total': { faults: [limitedPages(4), noTotal], outcome: completeWithoutTotal },
  'pages of any size': { faults: [NAMED_FAULTS.short_pages], outcome: complete25 },
  'pages of any size after a full first one': {
    faults: [{ ...NAMED_FAULTS.short_pages, when: atOffset(10) }],
    outcome: complete25,
  },
  'an ignored offset': {
    faults: [NAMED_FAULTS.ignored_offset],
    reached: 10,
    outcome: { ...incomplete, duplicates: 20 },
  },
  'an ignored offset without a total': {
    faults: [NAMED_FAULTS.ignored_offset, noTotal],
    reached: 10,
    outcome: { complete: false, duplicates: 10 },
  },
  'an ignored offset of a listing that fits a page': {
    faults: [NAMED_FAULTS.ignored_offset],
    count: 7,
    outcome: { complete: true, reported: 7 },
  },
  'an ignored offset of a list that fits a page, without a total': {
    faults: [NAMED_FAULTS.ignored_offset, noTotal],
    count: 7,
    outcome: { complete: false, duplicates: 7 },
  },
  'offsets counted from one': { faults: [NAMED_FAULTS.offset_from_one], outcome: { ...complete25, duplicates: 1 } },
  'offsets counted from one without a total': {
    faults: [NAMED_FAULTS.offset_from_one, noTotal],
    outcome: { complete: false, duplicates: 1 },
  },
  'offsets in pages': { faults: [NAMED_FAULTS.offset_in_pages], reached: 10, outcome: incomplete },
  'offsets in pages without a total': {
    faults: [NAMED_FAULTS.offset_in_pages, noTotal],
    reached: 10,
    outcome: { complete: false },
  },
  'offsets in pages of a listing that fits a page, without a total': {
    faults: [NAMED_FAULTS.offset_in_pages, noTotal],
    count: 7,
    outcome: { complete: false },
  },
  'rows that shift without a total': {
    faults: [rowShift(newRow), noTotal],
    outcome: { complete: false, duplicates: 1 },
  },
  'a fixed, larger page size': { faults: [fixedSize(15)], outcome: complete25 },
  'numbers as text': { faults: [NAMED_FAULTS.text_numbers], outcome: complete25 },
  'a total that is not a number': {
    faults: [reportedTotal('many')],
    outcome: { complete: true, invalidTotals: 5 },
  },
  'a total that is wrong in the first listing': {
    faults: [{ ...wrongTotal(5), when: inFirstListing }],
    outcome: complete25,
  },
  'rows that shift once, unknown to the total': {
    faults: [{ ...rowShift(newRow, 0), when: inFirstListing }],
    count: 30,
    outcome: { complete: true, reported: 30 },
  },
  'rows that always shift, unknown to the total': {
    faults: [rowShift(newRow, 0)],
    count: 30,
    reached: 29,
    outcome: { complete: false, reported: 30, duplicates: 1 },
  },
  'duplicates that the total knows of': {
    faults: [NAMED_FAULTS.duplicates],
    outcome: { complete: false, reported: 27, duplicates: 2 },
  },
  'duplicates that the total does not count': {
    faults: [uncountedDuplicates(5)],
    outcome: { ...complete25, duplicates: 5 },
  },
  'an empty list': { faults: [], count: 0, outcome: { complete: true, reported: 0 } },
  'an empty list that is null': {
    faults: [nullResources],
    count: 0,
    outcome: { complete: true, reported: 0 },
  },
  'an empty first page': {
    faults: [{ ...replyWith(200, {}, '{"resources":[],"page":{"total":25}}'), when: atOffset(0) }],
    reached: 0,
    outcome: incomplete,
  },
};

describe('Exporter, over services with listing faults', () => {
  const widths = [1, 8];
  const stations = Object.entries(FAULT_CASES).flatMap(([name, oddity]) =>
    widths.map((width) => ({ ...oddity, name: `${name}, ${width}`, width })),
  );
  let service: SimulatedService;
  let exporter: RunningExporter;
  let families: Awaited<ReturnType<RunningExporter['scrape']>>;

  beforeAll(async () => {
    service = await startSimulatedService();
    for (const { name, faults, count = 25 } of stations) {
      service.setFaults(name, faults);
      service.setRecords(name, variedEntries(count));
    }
    const { upstreams, ...config } = configOf(service.url, [], { cache: { ttl: '1h' } });
    exporter = await startExporter({
      ...config,
      upstreams: Object.fromEntries(
        widths.map((concurrency) => [`side by side ${concurrency}`, { ...upstreams.main, concurrency }]),
      ),
      stations: stations.map(({ name, width }) => ({
        ...{ subscription: 'sub', resource_group: 'rg', zone: 'z1', telemetry_station: name },
        upstream: `side by side ${width}`,
      })),
    });
    families = await exporter.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '110' });
  });

  afterAll(async () => {
    await exporter.stop();
    await service.stop();
  });

  it.each(stations.map((station) => [station.name, station] as const))(
    'publishes the expected numbers of %s per page',
    (name, { count = 25, reached, outcome }) => {
      const pages = service.requests.filter(({ station }) => station === name).length;
      expect(stateOf(families, name)).toEqual(expectedState(undefined));
      expect(dataOf(families, name)).toEqual(
        expectedData(recordsOf(variedEntries(count).slice(0, reached)), { ...outcome, pages }),
      );
      expect(pages).toBeLessThan(60);
    },
  );
});

/** One scrape of a station over a service with these records. */
async function scrapeOf(
  entries: readonly SourceEntry[],
  { faults = [], changes = {} }: { faults?: readonly Fault[]; changes?: Parameters<typeof configOf>[2] } = {},
) {
  const service = await startTestService({ faults: { ts: faults } });
  service.setRecords('ts', entries);
  const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '1h' }, ...changes }));
  const families = await exporter.scrape();
  return { service, exporter, families, data: dataOf(families), pages: service.requests.length };
}

const entriesOf = (records: readonly unknown[]): SourceEntry[] => records.map((record) => ({ record }));
const total = (samples: Record<string, number> = {}) => Object.values(samples).reduce((sum, value) => sum + value, 0);
const count = (samples: object = {}) => Object.keys(samples).length;

describe('Exporter, over malformed records', () => {
  it('publishes hostile text in every label without loss', async () => {
    const hostile = [
      ...[
        '__proto__',
        'constructor',
        'hasOwnProperty',
        '"',
        '\\',
        '\n',
        '\\n',
        '\\"',
        'a"} 1\n# HELP x y',
        '\r\n',
        '\u0000',
        '\u2028',
        '{}',
        ' ',
      ],
      ...['集群：生产', '\ud800', 'a\udc00b', '😀'.repeat(300), 'é'.repeat(600), 'x'.repeat(1025), '\ufeff'],
    ];
    const records = hostile.map((text) => ({
      resource_type: { key: text, label: text },
      resource_id: text,
      create_time: text,
      sku: text,
      state: text,
      display_name: text,
      alert_rules_count: 1,
      name: text,
      gpu_model: text,
    }));
    const { data, pages } = await scrapeOf(entriesOf(records));
    const expected = expectedData(
      records.map((record) => ({ ...record, create_time: '' })),
      { complete: true, reported: 21, pages },
    );
    expect(data).toEqual(expected);
    expect(count(data['resource_info'])).toBe(21);
  });

  it('reads invalid UTF-8 and field names that are special in JavaScript', async () => {
    const rows = [
      '{"resource_id":"a\xed\xa0\x80z","name":"\xff"}',
      '{"resource_id":"b","__proto__":{"name":"evil","state":"EVIL"}}',
      '{"__proto__":{"resource_id":"evil"}}',
      '{"resource_id":"__proto__","alert_rules_count":1e400}',
      '{"resource_id":"c","resource_id":"d"}',
    ];
    const body = Buffer.from(`\xef\xbb\xbf{"resources":[${rows.join()}],"page":{"total":5},"__proto__":{}}`, 'latin1');
    const { data } = await scrapeOf([], { faults: [replyWith(200, {}, body)] });
    const read = [
      { resource_id: 'a\ufffd\ufffd\ufffdz', name: '\ufffd' },
      { resource_id: 'b' },
      {},
      { resource_id: '__proto__', alert_rules_count: -1 },
      { resource_id: 'd' },
    ];
    expect(data).toEqual(expectedData(read, { complete: true, reported: 5, pages: 1 }));
  });
});

describe('Exporter, joining listings', () => {
  it('labels resources with the product that lists them, others with none, and counts alertable ones', async () => {
    const entries = variedEntries(25);
    const station = { products: ['product.unknown', 'product.odd'], alertability: true };
    const { data, pages, service } = await scrapeOf(entries, { changes: { station, cache: { ttl: '1h' } } });
    const numberOf = (id: string) => Number(id.slice(1));
    const product = (id: string) => (numberOf(id) % 2 === 0 ? '' : 'product.odd');
    const alertable = (id: string) => numberOf(id) % 5 !== 0;
    expect(data).toEqual(
      expectedData(recordsOf(entries), { complete: true, reported: 25, pages }, { product, alertable }),
    );
    expect(total(data['alertable_resources'])).toBe(20);
    const queried = service.requests.map(({ filters }) => `${filters?.product} ${filters?.enabled_alert}`);
    const expected = ['undefined undefined', 'product.unknown undefined', 'product.odd undefined', 'undefined true'];
    expect(new Set(queried)).toEqual(new Set(expected));
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
          complete: true,
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
