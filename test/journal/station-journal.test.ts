import { describe, expect, it } from 'vitest';
import { oncePer } from '../../src/journal/rare-warning.ts';
import { SharedLines } from '../../src/journal/shared-lines.ts';
import { type JournalOptions, StationJournal } from '../../src/journal/station-journal.ts';
import { type FailureReason, ListingFailure } from '../../src/model/failure.ts';
import { ChangeLog } from '../../src/resources/changes.ts';
import type { Changes } from '../../src/resources/churn.ts';
import type { Resource } from '../../src/resources/fields.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import { viewOf } from '../app/station-view.ts';
import { mismatch, rejecting, resourceOf } from '../stations/fixtures.ts';
import { setUpLog } from './recorded-log.ts';

const HOUR_MS = 3_600_000;

/** A refresh, successful without a failure. */
interface Refresh {
  readonly reason?: FailureReason;
  readonly error?: unknown;
  readonly resources?: readonly Resource[];
  readonly listing?: Partial<Snapshot>;
  readonly labelValues?: number;
  readonly withheldFiring?: number;
  readonly changes?: Changes;
  /** The data of the last success is no longer served. */
  readonly isExpired?: boolean;
}

function setUp(options: Partial<JournalOptions> = {}) {
  const { log, now, ...rest } = setUpLog();
  const changes = new ChangeLog({ changes: 9, changes_per_station: 9 });
  const shared = {
    log,
    changes,
    lines: new SharedLines({ log, elapsedMs: now }),
    statesDue: oncePer(HOUR_MS, now),
    elapsedMs: now,
    ...options,
  };
  const journal = new StationJournal('prod', shared);
  const other = new StationJournal('other', shared);
  const refresh = ({ reason, error, changes, isExpired, ...data }: Refresh = {}, station = journal) => {
    const { resources = [], listing = {}, labelValues, withheldFiring } = data;
    const view = viewOf(resources, labelValues === undefined ? {} : { labelValues }, listing, withheldFiring);
    const failure = reason && { reason, message: `no ${reason}`, error };
    const health = {
      addedMs: 0,
      lastAttemptMs: now(),
      lastSuccessMs: undefined,
      durationMs: 1234.5,
      failure,
      firstMessage: undefined,
    };
    const expired = { ...view, served: undefined, health: { ...health, lastSuccessMs: 0 } };
    station.refreshed(isExpired ? expired : { ...view, health }, { waitedMs: 1500, report: changes });
  };
  return { journal, other, refresh, changes, ...rest };
}

describe('StationJournal', () => {
  it('logs that a further collector fails, once per hour and reason, and its recovery, but no outage of the station', () => {
    const { journal, advance, logged } = setUp();
    const collected = (reason?: FailureReason) => {
      const view = viewOf([]);
      const failure = reason && { reason, message: `no ${reason}`, error: undefined };
      const health = { ...view.health, failure };
      journal.furtherRefreshed({ ...view, health, collector: 'silences', served: undefined });
    };
    collected();
    expect(logged()).toEqual([]);
    collected('forbidden');
    collected('forbidden');
    advance(HOUR_MS);
    collected('forbidden');
    const failed = 'msg="collector failed" station=prod upstream=main collector=silences reason=forbidden';
    expect(logged(true)).toEqual(['warn', 'debug', 'warn'].map((level) => `${level} ${failed} error="no forbidden"`));
    collected();
    collected();
    expect(logged(true)).toEqual(['info msg="collector recovered" station=prod upstream=main collector=silences']);
    expect(journal.refreshes.newestFirst()).toEqual([]);
  });

  it('logs a failure when its reason is new, and again after an hour, and the recovery with how long the station was down', () => {
    const { refresh, advance, logged } = setUp();
    refresh();
    expect(logged()).toEqual([]);
    for (const reason of ['timeout', 'timeout', 'status', 'timeout'] as const) {
      refresh({ reason });
      advance(10_000);
    }
    advance(HOUR_MS);
    refresh({ reason: 'status' });
    const failed = (level: string, reason: FailureReason, outage = '') =>
      `${level} msg="refresh failed" station=prod upstream=main reason=${reason} error="no ${reason}"${outage} duration_seconds=1.235`;
    expect(logged(true)).toEqual([
      failed('warn', 'timeout'),
      failed('debug', 'timeout', ' attempts=2 outage_seconds=10'),
      failed('warn', 'status', ' attempts=3 outage_seconds=20'),
      failed('debug', 'timeout', ' attempts=4 outage_seconds=30'),
      failed('warn', 'status', ' attempts=5 outage_seconds=3640'),
    ]);
    refresh();
    refresh();
    expect(logged()).toEqual([
      'info msg="station recovered" station=prod upstream=main attempts=5 outage_seconds=3640',
    ]);
  });

  it('logs that the data has expired, and once per hour while the outage lasts', () => {
    const { refresh, advance, logged } = setUp();
    const expired = { reason: 'auth', isExpired: true } as const;
    const line =
      'warn msg="data expired, resources unknown until a refresh succeeds" station=prod upstream=main last_success=1970-01-01T00:00:00.000Z';
    refresh({ reason: 'auth' });
    expect(logged()).toEqual([expect.stringContaining('refresh failed')]);
    for (let attempts = 0; attempts < 3; attempts += 1) refresh(expired);
    expect(logged()).toEqual([line]);
    advance(HOUR_MS);
    refresh(expired);
    expect(logged()).toEqual([expect.stringContaining('refresh failed'), line]);
    refresh();
    refresh(expired);
    expect(logged()).toEqual([
      expect.stringContaining('station recovered'),
      expect.stringContaining('refresh failed'),
      line,
    ]);
  });

  it('logs what lasts once per hour, and at debug level in between, although the station fails again and again', () => {
    const { refresh, journal, advance, logged } = setUp();
    const resources = ['a', 'b'].map((id) => resourceOf(id, { type: id, state: 'ESCALATED' }));
    const listing = {
      complete: false,
      reportedTotal: 9,
      rejected: 2,
      incompleteReasons: [mismatch('short')],
    };
    const everything = () => {
      refresh({ reason: 'timeout' });
      refresh({ resources, labelValues: 1, listing, withheldFiring: 600 });
      journal.postponed(new ListingFailure('rate_limited', 'wait'));
      journal.pageSizeReduced(50);
      const lines = logged(true).map((line) => line.replace(/ advice=.*/, ''));
      return lines.filter((line) => !/msg="(refresh failed|station recovered)"/.test(line));
    };
    const lasting = (level: string) =>
      [
        'msg="label has too many values, further ones are published as (other)" station=prod label=resource_type resources=1 limit=1',
        'msg="too many firing resources, telemetry_station_resource_firing withheld" station=prod firing=600 limit=500',
        'msg="resources in states of unknown meaning" station=prod resources=2 states="ESCALATED (2)"',
        'msg="listing incomplete, records without a usable resource_id rejected" station=prod rejected=2',
        'msg="refresh succeeded, listing incomplete" station=prod resources=2 pages=1 duration_seconds=1.235 reported=9 reasons=short',
        'msg="refresh postponed" station=prod reason=rate_limited error=wait',
        'msg="page size reduced" station=prod page_size=50',
      ].map((line) => `${level} ${line}`);
    expect(everything()).toEqual(lasting('warn'));
    expect(everything()).toEqual(lasting('debug'));
    advance(HOUR_MS);
    expect(everything()).toEqual(lasting('warn'));
  });

  it('logs that a listing is complete again, once', () => {
    const { refresh, logged } = setUp();
    for (const rejected of [1, 0, 0, 1, 0]) refresh({ listing: rejecting(rejected) });
    expect(logged()).toEqual([
      'warn msg="listing incomplete, records without a usable resource_id rejected" station=prod rejected=1',
      'info msg="listing complete again" station=prod resources=0 pages=1 duration_seconds=1.235',
    ]);
  });

  it('adds the stack of an internal error', () => {
    const { refresh, logged } = setUp();
    refresh({ reason: 'internal', error: new Error('a bug') });
    expect(logged()).toEqual([expect.stringMatching(/reason=internal .* stack="Error: a bug\\n/)]);
  });

  it.each([
    {
      what: 'names the states, and advises to add those that can be listed',
      states: ['ESCALATED', 'INACTIVE', 'ESCALATED', ''],
      labelValues: 9,
      line:
        'resources=3 states="ESCALATED (2), no state (1)" advice="Add the state to the list of its meaning in the configuration, states: { firing: [], pending: [], inactive: [] }: \\"ESCALATED\\". ' +
        'If the service leaves out a state, set absent_fields: { state: … } in the upstream to this state; otherwise report resources without a state to the operators of the service."',
    },
    {
      what: 'does not advise to add states published as (other)',
      states: ['INACTIVE', 'ESCALATED', 'MUTED'],
      labelValues: 1,
      line: 'resources=2 states="(other) (2)" advice="Raise limits.label_values, so that the states published as (other) have their names."',
    },
  ])('logs states of unknown meaning: $what', ({ states, labelValues, line }) => {
    const { refresh, logged } = setUp();
    refresh({ resources: states.map((state, at) => resourceOf(`${at}`, { state })), labelValues });
    expect(logged()).toContain(`warn msg="resources in states of unknown meaning" station=prod ${line}`);
  });

  it('logs a state of unknown meaning once per hour for all stations', () => {
    const { refresh, other, logged, advance } = setUp();
    const inStates = (...states: readonly string[]) => states.map((state, at) => resourceOf(`${at}`, { state }));
    const unclear = () => logged().flatMap((line) => / station=\S+ resources=\d+ states=".*?"/.exec(line) ?? []);
    refresh({ resources: inStates('X', 'Y') });
    refresh({ resources: inStates('Y', 'X', 'Z') }, other);
    expect(unclear()).toEqual([
      ' station=prod resources=2 states="X (1), Y (1)"',
      ' station=other resources=1 states="Z (1)"',
    ]);
    advance(HOUR_MS);
    refresh({ resources: inStates('X') }, other);
    expect(unclear()).toEqual([' station=other resources=1 states="X (1)"']);
  });

  it('keeps each change, and logs it with the resource if wanted', () => {
    const list = [
      { change: 'rules', resource: resourceOf('a', { labels: { team: 'web', level: 'x', tier: '' } }), from: 2, to: 0 },
    ] as const;
    const counts = { added: 0, removed: 0, stateChanges: 0, rulesChanges: 1, total: 1, removedOwners: [] };
    const changed = { changes: { ...counts, list } };
    const { refresh, changes, logged } = setUp({ logChanges: true });
    refresh(changed);
    expect(logged()).toEqual([
      'info msg="resource changed" station=prod change=rules resource_id=a name=name-a display_name="Display a" resource_type=type.a from=2 to=0 team=web',
    ]);
    const silent = setUp();
    silent.refresh(changed);
    expect(silent.logged()).toEqual([]);
    for (const log of [changes, silent.changes]) expect(log.of('prod').newestFirst).toMatchObject(list);
  });

  it('logs the first hundred changes of a listing, and how many more there are', () => {
    const added = { change: 'added', from: undefined, to: 'Firing' } as const;
    const list = Array.from({ length: 101 }, (_, at) => ({ ...added, resource: resourceOf(`${at}`) }));
    const counts = { added: 4000, removed: 0, stateChanges: 0, rulesChanges: 0, total: 4000, removedOwners: [] };
    const { refresh, logged } = setUp({ logChanges: true });
    refresh({ changes: { ...counts, list } });
    const lines = logged();
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe('info msg="further changes not logged" station=prod changes=3900');
  });
});

describe('StationJournal.refreshes', () => {
  const resources = ['ALERTSTATE_FIRING', 'Firing', 'ALERTSTATE_INACTIVE', '', 'RESOLVED'].map((state, at) =>
    resourceOf(`${at}`, { state }),
  );

  it('counts resources as firing or unknown by what their state means, as the alerts do', () => {
    const { journal, refresh } = setUp();
    const changes = { added: 1, removed: 2, stateChanges: 3, rulesChanges: 4 };
    refresh({ resources, listing: { pages: 4 }, changes: { ...changes, total: 10, removedOwners: [], list: [] } });
    expect(journal.refreshes.latest()).toEqual({
      atMs: 0,
      outcome: 'succeeded',
      waitedMs: 1500,
      durationMs: 1234.5,
      pages: 4,
      resources: 5,
      firing: 2,
      unknown: 2,
      isIncomparable: false,
      ...changes,
    });
  });

  it('has the failure, and no numbers of the snapshot before', () => {
    const { journal, refresh } = setUp();
    refresh({ resources, reason: 'auth' });
    expect(journal.refreshes.latest()).toEqual({
      atMs: 0,
      outcome: 'failed',
      waitedMs: 1500,
      durationMs: 1234.5,
      failure: { reason: 'auth', message: 'no auth' },
    });
  });

  it('has a postponed refresh, which is not a failure of the station', () => {
    const { journal } = setUp();
    journal.postponed(new ListingFailure('rate_limited', 'later', { isPostponed: true }));
    expect(journal.refreshes.latest()).toMatchObject({
      outcome: 'postponed',
      waitedMs: 0,
      failure: { reason: 'rate_limited', message: 'later' },
    });
  });
});
