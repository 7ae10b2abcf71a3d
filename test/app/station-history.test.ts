import { describe, expect, it } from 'vitest';
import { postponedEntry, refreshEntry } from '../../src/app/status.ts';
import { ListingFailure } from '../../src/model/failure.ts';
import { resourceOf } from '../refresh/fixtures.ts';
import { viewOf } from './station-view.ts';

describe('refreshEntry', () => {
  const resources = ['ALERTSTATE_FIRING', 'Firing', 'ALERTSTATE_INACTIVE', '', 'RESOLVED'].map((state, at) =>
    resourceOf(`${at}`, { state }),
  );

  it('counts resources as firing whose state contains the word in any case, as the alerts do', () => {
    const changes = { added: 1, removed: 2, stateChanges: 3, rulesChanges: 4 };
    const attempt = { waitedMs: 1500, changes: { ...changes, total: 10, list: [] } };
    expect(refreshEntry(viewOf(resources, {}, { pages: 4 }), attempt)).toEqual({
      ...{ atMs: 2000, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 1500, durationMs: 12 },
      ...{ pages: 4, resources: 5, firing: 2, ...changes },
    });
  });

  it('knows no changes of a listing that is not complete', () => {
    const entry = refreshEntry(viewOf(resources, {}, { complete: false }), { waitedMs: 0, changes: undefined });
    expect(entry).toMatchObject({ outcome: 'incomplete', resources: 5 });
    expect(entry).not.toHaveProperty('added');
  });

  it('has the failure, and no numbers of the snapshot before', () => {
    const failure = { reason: 'auth', message: 'refused', error: new Error('refused') } as const;
    const health = { lastAttemptMs: 5000, lastSuccessMs: undefined, durationMs: 7, failure };
    const entry = refreshEntry({ ...viewOf(resources), health }, { waitedMs: 0, changes: undefined });
    expect(entry).toEqual({
      atMs: 5000,
      refreshes: 1,
      failed: 1,
      outcome: 'failed',
      failure,
      waitedMs: 0,
      durationMs: 7,
    });
  });
});

describe('postponedEntry', () => {
  it('is not a failure of the station', () => {
    const failure = new ListingFailure('rate_limited', 'later', { isPostponed: true });
    expect(postponedEntry(failure, 9000)).toEqual({
      ...{
        atMs: 9000,
        refreshes: 1,
        failed: 0,
        outcome: 'postponed',
        waitedMs: 0,
        failure: { reason: 'rate_limited', message: 'later' },
      },
    });
  });
});
