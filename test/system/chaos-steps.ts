import { type Fault, NAMED_FAULTS, replyWith, slow, wrongTotal } from '../../lab/simulator/faults.ts';
import { between, pick, type Random } from '../../lab/simulator/random.ts';
import { wireRecord } from '../e2e/test-bed.ts';
import {
  countedDuplicates,
  ignoredOffset,
  missingPage,
  movingTotal,
  reportedTotal,
  rowShift,
  type SimulatedService,
  shortPages,
  uncountedDuplicates,
} from '../simulator/simulated-service.ts';

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
  'is slow': () => [slow(1, 40)],
  'hangs sometimes': () => [{ ...NAMED_FAULTS.hang, share: 0.2 }],
  'reports too large a total': (random) => [{ ...wrongTotal(between(random, 1, 30)), share: pick(random, [0.5, 1]) }],
  'increases its total during a listing': () => [movingTotal],
  'shifts its rows': (random) => [rowShift(shifted, pick(random, [0, shifted.length]))],
  'omits the total': (random) => [pick<Fault>(random, [NAMED_FAULTS.null_page, missingPage, reportedTotal(undefined)])],
  'repeats rows': (random) => [pick<Fault>(random, [countedDuplicates, uncountedDuplicates(between(random, 1, 9))])],
  'ignores the offset': () => [ignoredOffset],
  'returns short pages': () => [shortPages],
  'fails with a status': (random) => [
    { ...replyWith(pick(random, [400, 401, 403, 404, 500, 503])), share: pick(random, [0.3, 1]) },
  ],
  'breaks connections': (random) => [
    { ...pick(random, [NAMED_FAULTS.reset, NAMED_FAULTS.truncated, NAMED_FAULTS.cut]), share: pick(random, [0.3, 1]) },
  ],
  'returns no listing': (random) => [
    {
      ...pick<Fault>(random, [NAMED_FAULTS.html, NAMED_FAULTS.not_json]),
      share: pick(random, [0.3, 1]),
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
