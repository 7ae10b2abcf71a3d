import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Fault, limitedPages, NAMED_FAULTS, wrongTotal } from '../../lab/simulator/faults.ts';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { codePoint } from '../code-point.ts';
import { expectedData, INVALID_TIMES } from '../e2e/reference-model.ts';
import { dataOf, withoutCounters } from '../e2e/station-metrics.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import {
  fixedSize,
  gzip,
  ignoredSize,
  inFirstListing,
  missingPage,
  movingTotal,
  nullResources,
  reportedTotal,
  rowShift,
  shortPages,
  type TestFault,
} from '../simulator/simulated-service.ts';

const entriesOf = (records: readonly unknown[]): SourceEntry[] => records.map((record) => ({ record }));

describe('Exporter, all families together', () => {
  it('publishes the expected numbers for random records and faults', async () => {
    const service = await startTestService();
    service.setRecords('ts', []);
    const config = configOf(service.url, ['ts'], { upstream: { page_size: 7, concurrency: 3 } });
    // All worlds are one station, whose labels have the values of all of them.
    const exporter = await startReadyExporter({ ...config, limits: { label_values: 100_000 } });
    let expected = {};
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
        expected = expectedData(records, outcome, expected);
        expect(withoutCounters(data)).toEqual(expected);
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
        fc.constantFrom<Fault | undefined>(undefined, ignoredSize, ...(hasTotal ? [shortPages] : [])),
        fc.integer({ min: hasTotal ? 1 : 2, max: 9 }).map(limitedPages),
        fc.integer({ min: hasTotal ? 1 : 2, max: 30 }).map(fixedSize),
      ),
      fc.constantFrom<Fault | undefined>(undefined, nullResources),
      fc.constantFrom<Fault | undefined>(undefined, { ...gzip, share: 0.5 }),
    )
    .map((faults) => faults.filter((fault) => fault !== undefined));

const withTotal = fc.constantFrom<readonly TestFault[]>(
  [],
  [{ ...movingTotal, when: inFirstListing }],
  [{ ...wrongTotal(2), when: inFirstListing }],
  [{ ...rowShift([wireRecord('passing by')]), when: inFirstListing }],
);
const withoutTotal = fc.constantFrom<readonly Fault[]>(
  [NAMED_FAULTS.null_page],
  [missingPage],
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
