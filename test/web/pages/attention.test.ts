import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/model/failure.ts';
import { generalAdvice, incompleteAdvice } from '../../../src/problems/advice.ts';
import { currentProblems, type ProblemSources } from '../../../src/problems/problems.ts';
import type { StationStatus, UpstreamStatus } from '../../../src/status/station-status.ts';
import { attentionSection, headline, ownersText, stationHeadline } from '../../../src/web/pages/attention.ts';
import { mismatch } from '../../stations/fixtures.ts';
import { NOW_MS, SNAPSHOT, STATION, UPSTREAM, withRejected } from '../fake-station.ts';
import { shown } from './opened-page.ts';

const MINUTE_MS = 60_000;

const up = (name: string, changes: Partial<StationStatus> = {}): StationStatus => ({ ...STATION, name, ...changes });

const failingSince = (minutes: number): StationStatus['failureStreak'] => {
  const fromMs = NOW_MS - minutes * MINUTE_MS;
  return { fromMs, failed: 3, reason: 'timeout', status: undefined, reasonFromMs: fromMs };
};

const failing = (name: string, reason: FailureReason, status = 503, changes: Partial<StationStatus> = {}) =>
  up(name, {
    up: false,
    failure: { reason, message: 'm', status, isAnswered: true },
    failureStreak: failingSince(12),
    ...changes,
  });

const failingWithoutData = (name: string, changes: Partial<StationStatus> = {}) =>
  failing(name, 'timeout', 503, { snapshot: undefined, ...changes });

const gone = (name: string, changes: Partial<StationStatus> = {}) =>
  up(name, { snapshot: undefined, dueInMs: -5 * MINUTE_MS, ...changes });

const untried = (name: string) => gone(name, { up: undefined, dueInMs: 0 });

const lacking = (name: string, changes: Partial<typeof SNAPSHOT>) =>
  up(name, { snapshot: { ...SNAPSHOT, ...changes }, incompleteSinceMs: NOW_MS - 20 * MINUTE_MS });

const INCOMPLETE = {
  complete: false,
  addsUp: false,
  incompleteReasons: [mismatch('total 5, 4 listed')],
};

const unclear = (name: string, unknown: number) =>
  up(name, {
    snapshot: { ...SNAPSHOT, unknown, unknownStates: [{ state: 'ESCALATED', resources: unknown }] },
    unknownSinceMs: NOW_MS - 2 * MINUTE_MS,
  });

const fleet = (count: number, station: (name: string) => StationStatus) =>
  Array.from({ length: count }, (_, index) => station(`s${index}`));

const loaded = (load: Partial<UpstreamStatus['load']>): UpstreamStatus => ({
  ...UPSTREAM,
  load: { ...UPSTREAM.load, ...load },
});

const losing = (name: string, lost: number, before: number) =>
  up(name, { lossAt: () => ({ lost, before, sinceMs: NOW_MS - 9 * MINUTE_MS }) });

const problemsOf = (stations: readonly StationStatus[], sources: Partial<ProblemSources> = {}) =>
  currentProblems({ stations, upstreams: [UPSTREAM], nowMs: NOW_MS, ...sources });

type Options = Parameters<typeof attentionSection>[1];

const sectionOf = (found: ReturnType<typeof currentProblems>, options: Partial<Options> = {}) =>
  attentionSection(found, { root: './', nowMs: NOW_MS, removalsOf: () => [], ownerLabel: undefined, ...options }).text;

function headlineOf(stations: readonly StationStatus[], isSharded = false, sources: Partial<ProblemSources> = {}) {
  const { text, tone } = headline(stations, problemsOf(stations, sources), { isSharded, nowMs: NOW_MS });
  return { text: shown(text.text).text, tone };
}

/** The rows of the list, without its heading. */
function rowsOf(
  stations: readonly StationStatus[],
  sources: Partial<ProblemSources> = {},
  options: Partial<Options> = {},
) {
  const [, ...rows] = sectionOf(problemsOf(stations, sources), options).split('<li ');
  return rows.map((row) => shown(`<li ${row}`));
}

describe('headline', () => {
  it.each<
    [
      text: string,
      tone: string,
      stations: readonly StationStatus[],
      isSharded?: boolean,
      sources?: Partial<ProblemSources>,
    ]
  >([
    ['No stations are configured', 'neutral', []],
    ['No stations are configured on this shard', 'neutral', [], true],
    ['1 of 1 station up', 'good', [up('prod')]],
    ['1,000 of 1,000 stations up', 'good', fleet(1000, up)],
    ['4 of 6 stations up, 2 not tried yet', 'neutral', [...fleet(4, up), untried('a'), untried('b')]],
    [
      '5 of 6 stations up; edge: 403 Forbidden since 02:53 UTC',
      'warning',
      [...fleet(5, up), failing('edge', 'forbidden')],
    ],
    ['2 of 2 stations up; b: not scraped since 02:55 UTC', 'warning', [up('a'), up('b', { dueInMs: -10 * MINUTE_MS })]],
    [
      '1 of 1 station up; upstream main: paused by the service',
      'warning',
      [up('a')],
      false,
      { upstreams: [loaded({ pauseMs: 5000 })] },
    ],
    [
      '0 of 1 station up; a: timeout since 01 Jan 03:05 UTC',
      'bad',
      [failing('a', 'timeout', 503, { failureStreak: failingSince(24 * 60), isUpstreamDown: true })],
    ],
    // Data older than 15 minutes is a critical alert.
    [
      '1 of 2 stations up; a: timeout since 02:53 UTC',
      'bad',
      [up('b'), failing('a', 'timeout', 503, { lastSuccessMs: NOW_MS - 21 * MINUTE_MS })],
    ],
    [
      '1 of 5 stations up; 2 stations of upstream main: timeout since 02:53 UTC',
      'warning',
      [up('c'), failing('a', 'timeout'), failing('d', 'timeout'), failing('b', 'forbidden'), failing('e', 'network')],
    ],
  ])('is "%s" in the tone %s', (text, tone, stations, isSharded, sources) => {
    expect(headlineOf(stations, isSharded, sources)).toEqual({ text, tone });
  });
});

describe('currentProblems', () => {
  it('has the order of the severities of alerts: lost resources, then no data, then warnings, then unknown states', () => {
    const stations = [
      unclear('state', 7),
      lacking('noid', withRejected(3)),
      lacking('total', INCOMPLETE),
      losing('vanish', 5, 9),
      gone('old'),
      failing('auth', 'auth', 401),
      failing('empty', 'status', 500, { snapshot: undefined }),
      up('busy', { snapshot: { ...SNAPSHOT, sets: { ...SNAPSHOT.sets, all: 400, firing: 21 }, firing: 21 } }),
      up('calm', { snapshot: { ...SNAPSHOT, sets: { ...SNAPSHOT.sets, all: 400, firing: 20 }, firing: 20 } }),
    ];
    const items = problemsOf(stations, {
      upstreams: [loaded({ recentThrottled: 1 }), { ...UPSTREAM, name: 'idle' }],
      rejectedReload: { atMs: NOW_MS, problems: ['p'] },
      rejectedWebReload: { atMs: NOW_MS, problems: ['p'] },
    });
    expect(items.map(({ tone, who, problem }) => `${tone} ${who}: ${problem}`)).toEqual([
      'bad vanish: 5 of 9 resources are gone',
      'bad empty: 500 Internal Server Error',
      'bad old: not scraped',
      'bad busy: 21 of 400 resources are firing',
      'warning auth: 401 Unauthorized',
      'warning noid: listing incomplete',
      'warning total: listing incomplete',
      'warning configuration: rejected',
      'warning web configuration: rejected',
      'warning upstream main: throttled',
      'unknown state: 7 resources in states of unknown meaning',
    ]);
    expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
  });

  it('groups failures by upstream, reason and status of the service, the largest first', () => {
    const stations = [
      up('fine'),
      failing('a', 'timeout'),
      ...fleet(3, (name) => failing(name, 'forbidden')),
      failing('b', 'forbidden', 403, { upstream: 'other' }),
      failing('c', 'timeout'),
      failing('d', 'status', 502),
      failing('e', 'status', 503),
    ];
    expect(problemsOf(stations).map(({ who, problem }) => `${who}: ${problem}`)).toEqual([
      '3 stations of upstream main: 403 Forbidden',
      '2 stations of upstream main: timeout',
      'b: 403 Forbidden',
      'd: 502 Bad Gateway',
      'e: 503 Service Unavailable',
    ]);
  });

  it('separates stations that are not scraped from those that are refreshed too late', () => {
    const stations = [gone('a'), gone('b', { refresh: 'background' })];
    expect(problemsOf(stations).map(({ who, problem }) => `${who}: ${problem}`)).toEqual([
      'a: not scraped',
      'b: overdue',
    ]);
  });

  it('says nothing of an upstream that failures already say, or that is usual', () => {
    const upstreams = [loaded({ recentThrottled: 5, waitingRefreshes: 3, oldestWaitingMs: 119_000 })];
    expect(problemsOf([failing('a', 'rate_limited')], { upstreams })).toHaveLength(1);
    const [item] = problemsOf([up('a')], { upstreams: [loaded({ waitingRefreshes: 3, oldestWaitingMs: 121_000 })] });
    expect(item).toMatchObject({ who: 'upstream main', problem: 'overloaded', sinceMs: NOW_MS - 121_000 });
  });
});

describe('attentionSection', () => {
  it('is empty when all is well', () => {
    expect(sectionOf(problemsOf([up('a')]))).toBe('');
  });

  it('has what, since when and what to do once for 300 stations of one account', () => {
    const rows = rowsOf(fleet(300, (name) => failing(name, 'forbidden')));
    expect(rows.map(({ text }) => text)).toEqual([
      `300 stations main since 02:53 UTC, 12 min The service accepted the Bearer credentials of authorization, but the account has no permission to list this station (403). Older data is served. What to do: Grant the account read permission on the station, or use an account that has it. forbidden: m`,
    ]);
    expect(rows[0]?.hrefs).toEqual(['./?filter=403+Forbidden&upstream=main#stations']);
  });

  it('counts from when the service failed, also if one of its stations had failed for days with another reason', () => {
    const failureStreak = { ...(failingSince(12) ?? expect.unreachable()), fromMs: NOW_MS - 3 * 24 * 60 * MINUTE_MS };
    const longer = failing('b', 'network', 503, { failureStreak });
    expect(rowsOf([failing('a', 'network'), longer])[0]?.text).toContain('2 stations main since 02:53 UTC, 12 min');
    expect(rowsOf([longer])[0]?.text).toContain('b main since 02:53 UTC, 12 min');
  });

  it('shows the most frequent messages, and how many others there are', () => {
    const stations = ['x', 'y', 'z', 'y', 'x', 'y'].map((message, index) =>
      failing(`${index}`, 'body', 200, { failure: { reason: 'body', message } }),
    );
    expect(rowsOf(stations)[0]?.text).toMatch(/ body: ybody: x1 other message$/);
  });

  it.each<[text: string, ...stations: StationStatus[]]>([
    ['No data is served: it has expired.', failingWithoutData('a')],
    ['No refresh has succeeded yet.', failingWithoutData('a', { lastSuccessMs: undefined })],
    ['1 of them has no data.', failing('a', 'timeout'), failingWithoutData('b')],
    ['2 of them have no data.', failing('a', 'timeout'), failingWithoutData('b'), failingWithoutData('c')],
  ])('says of stations that fail alike: %s', (text, ...stations) => {
    expect(rowsOf(stations)[0]?.text).toContain(text);
  });

  it('names the stations that lost most, where several of an upstream did', () => {
    const [row, ...others] = rowsOf(fleet(7, up).map(({ name }, index) => losing(name, 10 + index, 20)));
    expect(others).toEqual([]);
    expect(row?.text).toContain(
      '91 of 140 resources are gone. The listings add up. Stations: s6 (16), s5 (15), s4 (14), s3 (13), s2 (12) and 2 more.',
    );
  });

  const SCRAPE_ADVICE = 'Check that Prometheus scrapes this exporter: a scrape refreshes a station that is due.';

  it.each<[text: string, advice: string, ...stations: StationStatus[]]>([
    ['a main since 03:00 UTC, 5 min The data has expired: not scraped for 5 min.', SCRAPE_ADVICE, gone('a')],
    [
      '2 stations main since 02:58 UTC, 7 min The data has expired. Stations: a (not scraped for 5 min), b (not scraped for 7 min).',
      SCRAPE_ADVICE,
      gone('a'),
      gone('b', { dueInMs: -7 * MINUTE_MS }),
    ],
    [
      'a main since 02:55 UTC, 10 min The data is old: not scraped for 10 min.',
      SCRAPE_ADVICE,
      up('a', { dueInMs: -10 * MINUTE_MS }),
    ],
    [
      'a main since 03:00 UTC, 5 min The data has expired: refreshing now.',
      'Check the load of the upstream and of the exporter.',
      gone('a', { isRefreshing: true }),
    ],
  ])('says of data that is not refreshed in time: %s', (text, advice, ...stations) => {
    expect(rowsOf(stations).map((row) => row.text)).toEqual([`${text} What to do: ${advice}`]);
  });

  it('says what may be missing, and what to do', () => {
    const held = { isIncomparable: true };
    const rows = rowsOf([
      lacking('total', { ...INCOMPLETE, ...held }),
      lacking('noid', { ...withRejected(1), ...held }),
    ]);
    expect(rows.map(({ text }) => text)).toEqual([
      `total main since 02:45 UTC, 20 min Resources may be missing: total 5, 4 listed. What to do: ${incompleteAdvice('total_mismatch')} Changes are not counted meanwhile.`,
      `noid main since 02:45 UTC, 20 min Resources may be missing: 1 rejected. What to do: ${incompleteAdvice('rejected_records')} Changes are not counted meanwhile.`,
    ]);
    const [compared] = rowsOf([lacking('noid', withRejected(1))]);
    expect(compared?.text).not.toContain('Changes are not counted');
  });

  it('sums up several stations that may miss resources, with links to them', () => {
    const [incomplete] = rowsOf(fleet(2, (name) => lacking(name, INCOMPLETE)));
    expect(incomplete?.text).toContain('s0 (total 5, 4 listed), s1 (total 5, 4 listed)');
    expect(incomplete?.hrefs[0]).toBe('./?filter=incomplete&upstream=main#stations');
    const [rejecting] = rowsOf(fleet(7, (name) => lacking(name, withRejected(3))));
    expect(rejecting?.text).toContain('s3 (3 rejected), s4 (3 rejected) and 2 more.');
  });

  it('links to the configuration from the root that the page is below', () => {
    const rejectedReload = { atMs: NOW_MS, problems: ['unknown key'] };
    const [row] = rowsOf([up('a')], { rejectedReload }, { root: '../' });
    expect(row?.hrefs).toEqual(['../config']);
  });

  it('shows a rejected web configuration like a rejected configuration', () => {
    const rejected = { atMs: NOW_MS - MINUTE_MS, problems: ['file:1:2: <x>: unknown key', 'more'] };
    const rows = rowsOf([up('a')], { rejectedReload: rejected, rejectedWebReload: rejected });
    expect(rows.map(({ text }) => text)).toEqual([
      'Configuration since 03:04 UTC, 1 min The file was rejected: what was in force before remains in use. What to do: Correct the file, and reload it. file:1:2: <x>: unknown keymore',
      'Web configuration since 03:04 UTC, 1 min The file was rejected: what was in force before remains in use. What to do: Correct the file: it is reread automatically. Some changes require a restart. file:1:2: <x>: unknown keymore',
    ]);
  });

  it('asks to report a bug that a reload met, and not to correct the file', () => {
    const rejectedReload = { atMs: NOW_MS - MINUTE_MS, problems: ['internal error'], isInternal: true };
    const [row] = rowsOf([up('a')], { rejectedReload });
    expect(row?.text).toBe(
      'Configuration since 03:04 UTC, 1 min The file was not reloaded: what was in force before remains in use. What to do: Report it with the log line, which contains the stack trace. internal error',
    );
  });

  const limitOf = (load: Partial<UpstreamStatus['load']>, neededPerSecond?: number) => {
    const capacity = { possiblePerSecond: 8, roundMs: 120_000, unknownStations: 0 };
    const known = neededPerSecond === undefined ? undefined : { ...capacity, neededPerSecond };
    return problemsOf([up('a')], { upstreams: [{ ...loaded(load), capacity: known }] })[0]?.what;
  };

  it.each<[what: string | undefined, load: Partial<UpstreamStatus['load']>, neededPerSecond?: number]>([
    [undefined, {}],
    // The limit is above what is needed.
    [undefined, { recentThrottled: 36, requestsPerSecond: 4.2 }, 0],
    [undefined, { requestsPerSecond: 5 }, 8],
    ['The service requested a pause until 03:06:01 UTC (Retry-After).', { pauseMs: 61_000 }],
    ['12 refreshes waiting for capacity, the first for 3 min.', { waitingRefreshes: 12, oldestWaitingMs: 180_000 }],
    ['8 requests/s are possible, 16 are needed: data gets up to 2 min old.', {}, 16],
    [
      'The service accepts 8 requests/s, 16 are needed: data gets up to 2 min old (36 of 180 requests throttled in 5 min).',
      { recentThrottled: 36 },
      16,
    ],
  ])('says of the limits of an upstream: %s', (what, load, neededPerSecond) => {
    expect(limitOf(load, neededPerSecond)).toBe(what);
  });

  it('advises more capacity only where the service does not limit it', () => {
    const waiting = { waitingRefreshes: 12, oldestWaitingMs: 180_000 };
    const adviceOn = (load: Partial<UpstreamStatus['load']>) =>
      problemsOf([up('a')], { upstreams: [loaded(load)] })[0]?.advice;
    expect(adviceOn(waiting)).toContain('concurrency');
    expect(adviceOn({ ...waiting, pauseMs: 61_000 })).toBe(generalAdvice('rate_limited').advice);
  });

  it('shows what an upstream is limited by', () => {
    const throttled = { recentThrottled: 36, requestsPerSecond: 4.2, throttledForMs: MINUTE_MS, pauseMs: 61_000 };
    const [row] = rowsOf([up('a')], { upstreams: [{ ...loaded(throttled), name: '<b>' }] });
    expect(row?.text).toBe(
      `<b> upstream since 03:04 UTC, 1 min 36 of 180 requests throttled in 5 min. The service requested a pause until 03:06:01 UTC (Retry-After). What to do: ${generalAdvice('rate_limited').advice} More about overload.`,
    );
  });

  it('does not advise fewer requests in an outage with Retry-After', () => {
    const unavailable = (name: string) => failing(name, 'status', 503);
    const problemsIn = (stations: readonly StationStatus[]) =>
      problemsOf(stations, { upstreams: [loaded({ pauseMs: 61_000 })] }).map(({ problem }) => problem);
    expect(problemsIn([unavailable('a'), unavailable('b')])).toEqual(['503 Service Unavailable']);
    expect(problemsIn([unavailable('a'), up('b')])).toEqual(['503 Service Unavailable', 'paused by the service']);
  });

  it('says at once that the service is unavailable, before refreshes fail because of it', () => {
    const message = 'monitor.example.com answered 503 Service Unavailable: closed for maintenance';
    const refusal = { reason: 'status', status: 503, message } as const;
    const [problem] = problemsOf([up('a')], { upstreams: [loaded({ pauseMs: 61_000, refusal })] });
    expect(problem).toMatchObject({
      problem: '503 Service Unavailable',
      what: `${message}. The service requested a pause until 03:06:01 UTC (Retry-After).`,
      advice: expect.stringMatching(/^If the service is in maintenance, wait/),
    });
  });

  it('advises no larger page_size where the service caps pages', () => {
    const upstreams = [loaded({ recentThrottled: 36 })];
    expect(rowsOf([up('a')], { upstreams })[0]?.text).not.toContain('page_size');
    const paging = { ...INCOMPLETE, incompleteReasons: [{ reason: 'paging' as const, text: 't' }], pageLimit: 50 };
    expect(rowsOf([lacking('a', paging)])[0]?.text).toContain('which returns at most 50 per page.');
  });

  it('is as urgent as a critical alert where more than a fifth has an unknown state or is missing', () => {
    const tonesWith = (sets: Partial<typeof SNAPSHOT.sets>, changes: Partial<typeof SNAPSHOT>) => {
      const snapshot = { ...SNAPSHOT, sets: { ...SNAPSHOT.sets, all: 100, ...sets }, ...changes };
      return problemsOf([up('a', { snapshot })]).map(({ tone }) => tone);
    };
    expect(tonesWith({ unknown: 21 }, { unknown: 21 })).toEqual(['bad']);
    expect(tonesWith({ unknown: 20 }, { unknown: 20 })).toEqual(['unknown']);
    expect(tonesWith({ missing: 21 }, INCOMPLETE)).toEqual(['bad']);
    expect(tonesWith({ missing: 20 }, INCOMPLETE)).toEqual(['warning']);
  });

  it('says of how many firing resources it is known only that they fired', () => {
    const snapshot = { ...SNAPSHOT, sets: { all: 100, firing: 30, unknown: 0, missing: 0 }, firing: 5 };
    expect(problemsOf([up('a', { snapshot })])[0]?.what).toBe(
      '30 of 100 resources are firing, 25 of them as last known.',
    );
  });

  it('has one row for stations of several upstreams, and links to the resources', () => {
    const [unknownRow] = rowsOf([
      unclear('a', 7),
      { ...unclear('b', 2), upstream: 'other', unknownSinceMs: NOW_MS - 9 * MINUTE_MS },
    ]);
    expect(unknownRow?.text).toMatch(
      /^2 stations since 02:56 UTC, 9 min 9 resources in states .* Stations: a \(7\), b \(2\)\./,
    );
    const [firingRow] = rowsOf([
      up('a', { snapshot: { ...SNAPSHOT, sets: { ...SNAPSHOT.sets, all: 400, firing: 21 }, firing: 21 } }),
    ]);
    expect(firingRow?.hrefs).toEqual(['./stations/a', './search?alert_state=firing&station=a']);
  });

  it('folds a long list', () => {
    const stations = fleet(10, (name) => failing(name, 'timeout', 503, { upstream: name }));
    const [shownItems = '', folded = ''] = sectionOf(problemsOf(stations)).split('<details>');
    expect(shown(shownItems).text).toMatch(/^Needs attention 10 /);
    expect(shownItems.match(/<li /g)).toHaveLength(8);
    expect(shown(folded).text).toMatch(/^2 more /);
    expect(folded.match(/<li /g)).toHaveLength(2);
  });

  const textOf = (changes: Partial<StationStatus>) => rowsOf([failing('a', 'timeout', 503, changes)])[0]?.text;

  it('explains a failure by what is known of the station and its upstream', () => {
    const timeout = { reason: 'timeout' as const, message: 'm' };
    expect(textOf({ failure: timeout })).toMatch(/What to do: If the service never answers, /);
    for (const silent of [{ isHanging: true }, { hasReplied: false }])
      expect(textOf({ failure: timeout, isUpstreamDown: true, ...silent })).toMatch(/What to do: Check base_url, /);
    expect(textOf({ failure: timeout, isHanging: true })).toContain('does for others of the upstream');
    const unknown = { failure: { reason: 'not_found' as const, message: 'm' } };
    expect(textOf({ ...unknown, lastSuccessMs: undefined })).toContain('What to do: Check subscription, ');
    expect(textOf({ ...unknown, isBeforeReload: true })).toContain('What to do: Check subscription, ');
    expect(textOf(unknown)).toContain('What to do: Check whether the telemetry station was deleted or renamed, ');
  });

  it('does not repeat the station on its own page, and has the links of that page', () => {
    const { text, hrefs } = shown(sectionOf(problemsOf([unclear('a', 7)]), { root: '../', isOfStation: true }));
    expect(text).toMatch(/^Needs attention 1 since 03:03 UTC, 2 min 7 resources in states of unknown meaning/);
    expect(hrefs).toEqual(['../search?alert_state=unknown&station=a']);
  });
});

describe('stationHeadline', () => {
  it.each<[text: string, tone: string, StationStatus]>([
    ['up', 'good', up('a')],
    ['not tried', 'neutral', untried('a')],
    ['no data; not scraped since 03:00 UTC', 'bad', gone('a')],
  ])('is "%s" in the tone %s', (text, tone, station) => {
    // Problems of the upstream are not those of the station.
    const upstreams = [loaded({ pauseMs: 5000 })];
    const line = stationHeadline(station, problemsOf([station], { upstreams }), NOW_MS);
    expect([shown(line.text.text).text, line.tone]).toEqual([text, tone]);
  });
});

describe('ownersText', () => {
  it('counts by owner, the most first, and is empty without labels', () => {
    const owned = ['web', '', 'data', 'web'].map((team) => ({ labels: { team }, total: 2 }));
    expect(ownersText('team', [...owned, { labels: undefined, total: 1250 }])).toBe(
      ', by team: (none) 1,252, web 4, data 2',
    );
    expect(ownersText('team', [])).toBe('');
    expect(ownersText(undefined, owned)).toBe('');
  });
});
