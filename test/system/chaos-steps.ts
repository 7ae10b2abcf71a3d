import type { Fault } from '../../src/simulator/faults.ts';
import { between, pick, type Random } from '../../src/simulator/random.ts';
import type { SimulatedService } from '../../src/simulator/service.ts';
import { wireRecord } from '../e2e/test-bed.ts';

export interface ChaosState {
  readonly service: SimulatedService;
  readonly random: Random;
  /** The ids of the service's records. */
  expectedIds: readonly string[];
}

const STATION = 'ts';
const POOL = Array.from({ length: 40 }, (_, index) => `r${index}`);
const STATES = ['ALERTSTATE_INACTIVE', 'ALERTSTATE_PENDING', 'ALERTSTATE_FIRING'];
const shifted = [{ ...wireRecord('shifted-1') }, { ...wireRecord('shifted-2') }];

/** Faults that last until the next step; a total that is too small is not detectable, and therefore not included. */
const FAULTS: Readonly<Record<string, (random: Random) => readonly Fault[]>> = {
  'is slow': () => [{ kind: 'slow', ms: [1, 40] }],
  'hangs sometimes': () => [{ kind: 'hang', when: { share: 0.2 } }],
  'reports too large a total': (random) => [
    { kind: 'wrong_total', delta: between(random, 1, 30), when: { share: pick(random, [0.5, 1]) } },
  ],
  'increases its total during a listing': () => [{ kind: 'moving_total' }],
  'shifts its rows': (random) => [{ kind: 'row_shift', rows: shifted, keepTotal: pick(random, [true, false]) }],
  'omits the total': (random) => [
    pick<Fault>(random, [
      { kind: 'null_page' },
      { kind: 'missing_page' },
      { kind: 'reported_total', total: undefined },
    ]),
  ],
  'repeats rows': (random) => [
    { kind: 'duplicates', every: between(random, 1, 9), counted: pick(random, [true, false]) },
  ],
  'ignores the offset': () => [{ kind: 'ignored_offset' }],
  'returns short pages': () => [{ kind: 'short_pages' }],
  'fails with a status': (random) => [
    { kind: 'status', code: pick(random, [400, 401, 403, 404, 500, 503]), when: { share: pick(random, [0.3, 1]) } },
  ],
  'breaks connections': (random) => [
    { kind: pick(random, ['reset', 'truncated'] as const), when: { share: pick(random, [0.3, 1]) } },
  ],
  'returns no listing': (random) => [
    {
      ...pick<Fault>(random, [{ kind: 'html' }, { kind: 'not_json' }, { kind: 'gzip' }]),
      when: { share: pick(random, [0.3, 1]) },
    },
  ],
};

/** What can happen to the service between two scrapes. */
export const STEPS: Readonly<Record<string, (state: ChaosState) => unknown>> = {
  'changes its records': (state) => {
    const { random, service } = state;
    const share = random();
    state.expectedIds = POOL.filter(() => random() < share);
    const type = (id: string) => ({ key: `resource_type.kind.${id.length}`, label: 'Kind' });
    const record = (id: string) => wireRecord(id, { state: pick(random, STATES), resource_type: type(id) });
    service.setRecords(
      STATION,
      state.expectedIds.map((id) => ({ record: record(id) })),
    );
  },
  stops: ({ service }) => service.stop(),
  'restarts, which closes its connections': ({ service }) => service.restart(),
  ...Object.fromEntries(
    Object.entries(FAULTS).map(([name, faultsOf]) => [
      name,
      ({ service, random }: ChaosState) => service.setFaults(STATION, faultsOf(random)),
    ]),
  ),
  recovers: async ({ service }) => {
    service.setFaults(STATION, []);
    await service.restart();
  },
};
