import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RejectedRecord } from '../../src/model/listing.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import type { EndedRefresh } from '../../src/status/latest-refreshes.ts';
import { mismatch, resourceOf } from '../stations/fixtures.ts';
import { eventually } from './eventually.ts';
import { detailOf, exporterOf, FAILURE_STREAK, NOW_MS, SNAPSHOT, STATION } from './fake-station.ts';
import { type RunningApp, responseTo, startApp } from './running-app.ts';

const UP = {
  station: 'prod',
  upstream: 'main',
  telemetry_station: 'ts',
  state: 'up',
  failure_reason: null,
  failure_message: null,
  failing_since: null,
  last_success: '2026-01-02T03:04:05.000Z',
  last_attempt: '2026-01-02T03:04:05.000Z',
  refresh_duration_seconds: 0.25,
  next_refresh_seconds: 30,
  refreshing: false,
  waiting_seconds: null,
  hanging: false,
  refresh: 'scrape',
  resources: 42,
  firing_resources: 5,
  pending_resources: 1,
  unknown_state_resources: 0,
  unknown_states: null,
  alertable_resources: null,
  resources_with_alert_rules: 35,
  resources_without_alert_rules: 7,
  resources_with_unknown_alert_coverage: 0,
  alert_coverage: 35 / 42,
  listing_complete: true,
  listing_rejected_resources: 0,
  listing_problems: null,
  listing_pages: 3,
};

const FAILING = {
  ...STATION,
  name: 'a,b',
  up: false,
  failureStreak: FAILURE_STREAK,
  failure: { reason: 'auth', message: '=1+1 "x"' },
  lastSuccessMs: undefined,
  dueInMs: -5,
  isRefreshing: true,
  waitingMs: 1500,
  isHanging: true,
  snapshot: undefined,
} as const;

const three = [
  resourceOf('b', { state: 'FIRING', alertable: true }),
  resourceOf('a', { state: 'FIRING', alertable: false }),
  resourceOf('c', { state: 'INACTIVE' }),
];

/** An incomplete listing. */
const SHORT = {
  ...SNAPSHOT,
  addsUp: false,
  complete: false,
  incompleteReasons: [mismatch('short')],
  rejected: 2,
};

const idsOf = (body: string) =>
  (JSON.parse(body) as { resources: { resource_id: string }[] }).resources.map(({ resource_id }) => resource_id);

describe('byFormat', () => {
  it.each([
    ['/', undefined, 'text/html; charset=utf-8'],
    ['/', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['/', 'application/json', 'application/json'],
    ['/', 'text/csv', 'text/csv; charset=utf-8'],
    ['/', 'image/png', 'text/html; charset=utf-8'],
    ['/?format=json', 'text/html', 'application/json'],
    ['/?format=html', 'application/json', 'text/html; charset=utf-8'],
    ['/stations/prod', 'application/json', 'application/json'],
    ['/stations/prod/refreshes', 'text/html,*/*;q=0.8', 'application/json'],
    ['/stations/prod/refreshes', undefined, 'application/json'],
    ['/stations/prod/resources', undefined, 'application/json'],
    ['/stations/prod/resources', 'text/csv', 'text/csv; charset=utf-8'],
  ])('answers %s with Accept %s as %s', async (path, accept, type) => {
    const { status, headers } = await responseTo(path, { headers: accept === undefined ? {} : { Accept: accept } });
    expect([status, headers['content-type']]).toEqual([200, type]);
  });

  it.each([
    '/?format=xml',
    '/?format=',
    '/?format=json&format=csv',
    '/stations/prod?format=csv',
    '/stations/prod/resources?format=html',
  ])('rejects %s', async (path) => {
    const { status, body } = await responseTo(path);
    expect(status).toBe(400);
    expect(body).toMatch(/^Expected format to be one of .*, at most once\.\n$/);
  });
});

describe('stationList', () => {
  it('lists all stations as JSON, and as a CSV file', async () => {
    const { request } = await startApp({ stations: () => [STATION, FAILING] });
    const unknown = Object.keys(UP).slice(Object.keys(UP).indexOf('resources'));
    expect(JSON.parse((await request('/?format=json')).body)).toEqual([
      UP,
      {
        ...UP,
        station: 'a,b',
        state: 'failing',
        failure_reason: 'auth',
        failure_message: '=1+1 "x"',
        failing_since: '2026-01-02T03:04:05.000Z',
        last_success: null,
        next_refresh_seconds: 0,
        refreshing: true,
        waiting_seconds: 1.5,
        hanging: true,
        ...Object.fromEntries(unknown.map((name) => [name, null])),
      },
    ]);
    const { headers, body } = await request('/?format=csv');
    expect(headers['content-disposition']).toBe('attachment; filename="stations.csv"');
    expect(body.split('\r\n')).toEqual([
      `\ufeff${Object.keys(UP).join(',')}`,
      '"prod","main","ts","up",,,,"2026-01-02T03:04:05.000Z","2026-01-02T03:04:05.000Z",0.25,30,false,,false,"scrape",42,5,1,0,,,35,7,0,0.8333333333333334,true,0,,3',
      `"a,b","main","ts","failing","auth","'=1+1 ""x""","2026-01-02T03:04:05.000Z",,"2026-01-02T03:04:05.000Z",0.25,0,true,1.5,true,"scrape",,,,,,,,,,,,,,`,
      '',
    ]);
  });
});

const REJECTED: RejectedRecord = {
  position: 12,
  rejection: 'no resource_id',
  texts: { name: '<b>web</b>', display_name: '', resource_type: 'type.a' },
};

describe('stationData', () => {
  it('adds the details of the station and its listing', async () => {
    const spec = { labels: { team: 'a' }, products: ['p'], alertability: true };
    const links = [
      { name: 'Grafana', station: 'https://g/d?s={station}' },
      { name: 'Console', resource: 'https://c' },
    ];
    const detail = detailOf(three, {
      spec,
      links,
      status: {
        snapshot: { ...SHORT, resources: 3, unknownCoverage: 3, isIncomparable: true },
      },
      snapshot: { reportedTotal: 4, duplicates: 1, rejectedRecords: [REJECTED] },
    });
    const { request } = await startApp(exporterOf(detail), { now: () => NOW_MS });
    expect(JSON.parse((await request('/stations/prod?format=json')).body)).toMatchObject({
      state: 'up',
      resources: 3,
      listing_problems:
        'listing incomplete: short; changes are not counted until a listing can be compared with an earlier one',
      complete: false,
      rejected: 2,
      age: 55,
      before_reload: false,
      incomplete_reasons: ['short'],
      subscription: 'sub',
      resource_group: 'rg',
      zone: 'z1',
      labels: { team: 'a' },
      products: ['p'],
      alertability: true,
      links: [{ name: 'Grafana', url: 'https://g/d?s=prod' }],
      listing: {
        reported_resources: 4,
        duplicate_resources: 1,
        rejected_records: [
          {
            position: 12,
            reason: 'no resource_id',
            name: '<b>web</b>',
            display_name: '',
            resource_type: 'type.a',
          },
        ],
        invalid_fields: detail.served?.snapshot.invalidFields,
      },
    });
  });

  it('has no listing without data', async () => {
    const spec = { resourceLabels: new ResourceLabels([], ['team']) };
    const { request } = await startApp(exporterOf({ ...detailOf([], { spec }), served: undefined }));
    expect(JSON.parse((await request('/stations/prod?format=json')).body)).toMatchObject({
      listing: null,
      resource_labels: null,
    });
  });
});

describe('resourceList', () => {
  it('lists exactly the resources that the page shows for the same query, in its order', async () => {
    const { request } = await startApp(exporterOf(detailOf(three)));
    const of = async (query: string) => idsOf((await request(`/stations/prod/resources${query}`)).body);
    expect(await of('')).toEqual(['b', 'a', 'c']);
    expect(await of('?state=FIRING&sort=resource_id')).toEqual(['a', 'b']);
    expect(await of('?sort=-resource_id&page=7')).toEqual(['c', 'b', 'a']);
    expect(await of('?search=nothing')).toEqual([]);
    const { resources } = JSON.parse((await request('/stations/prod/resources')).body);
    expect(resources).toMatchObject([{ alertable: true }, { alertable: false }, { alertable: null }]);
  });

  it('has before the resources whether the data is complete and how old it is', async () => {
    const { request } = await startApp(exporterOf(detailOf(three, { status: { snapshot: SHORT } })), {
      now: () => NOW_MS,
    });
    const json = await request('/stations/prod/resources?search=nothing');
    const data = { complete: false, rejected: 2, age: 55, before_reload: false, incomplete_reasons: ['short'] };
    expect(JSON.parse(json.body)).toEqual({ station: 'prod', ...data, resources: [] });
    for (const { headers } of [json, await request('/stations/prod/resources?format=csv')])
      expect(headers['telemetry-station-data']).toBe('complete=false, rejected=2, age=55, before_reload=false');
  });

  it('names a file after a station whose name is not ASCII', async () => {
    const spec = { name: '存储/一' };
    const { request } = await startApp(exporterOf(detailOf(three, { spec })));
    const { headers } = await request(`/stations/${encodeURIComponent(spec.name)}/resources?format=csv`);
    expect(headers['content-disposition']).toBe(
      `attachment; filename="--resources.csv"; filename*=UTF-8''${encodeURIComponent('存储-一-resources.csv')}`,
    );
  });

  it('has the labels of stations in their list, but not one with the name of another column', async () => {
    const spec = { labels: { team: 'storage', state: 'x' } };
    const { request } = await startApp(exporterOf(detailOf([], { spec })));
    const { body } = await request('/?format=csv');
    const [names = [], values = []] = body.split('\r\n').map((line) => line.split(','));
    expect(values[names.indexOf('team')]).toBe('"storage"');
    expect(names.filter((name) => name === 'state')).toHaveLength(1);
    expect(JSON.parse((await request('/?format=json')).body)).toMatchObject([{ team: 'storage' }]);
  });

  it('has one line per resource as a CSV file that is named after what it holds', async () => {
    const { request } = await startApp(exporterOf(detailOf(three)));
    const { headers, body } = await request('/stations/prod/resources?format=csv&sort=resource_id');
    expect(headers['content-disposition']).toBe('attachment; filename="prod-resources.csv"');
    const firing = await request('/stations/prod/resources?format=csv&state=firing&search="');
    expect(firing.headers['content-disposition']).toBe(
      'attachment; filename="prod-resources-search-22-state-firing.csv"',
    );
    const firstCells = body.split('\r\n').map((line) => line.split(',')[0]);
    expect(firstCells).toEqual(['\ufeffresource_id', '"a"', '"b"', '"c"', '']);
  });

  it.each(['/', '/stations/prod/resources', '/stations/prod/refreshes', '/changes', '/search?search=a'])(
    'begins %s as CSV, and not as JSON, with the bytes by which a spreadsheet recognizes UTF-8',
    async (path) => {
      const { port } = await startApp(exporterOf(detailOf(three)));
      const firstBytes = async (accept: string) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept } });
        return Buffer.from(await response.arrayBuffer())
          .subarray(0, 3)
          .toString('hex');
      };
      expect(await firstBytes('text/csv')).toBe('efbbbf');
      expect(await firstBytes('application/json')).not.toBe('efbbbf');
    },
  );

  it.each([
    ['/stations/prod/resources?sort=size', 400],
    ['/stations/prod/resources?team=storage', 400],
    ['/stations/prod/resources', 503],
  ])('responds to %s of a station without data with %d', async (path, status) => {
    const { request } = await startApp(exporterOf({ ...detailOf([]), served: undefined }));
    expect((await request(path)).status).toBe(status);
  });

  const many = Array.from({ length: 20_000 }, (_, index) => resourceOf(`r${index}`));

  /** Requests the list on a connection that does not read the response. */
  function openUnread({ port }: RunningApp) {
    const socket = connect(port, '127.0.0.1').pause();
    socket.write('GET /stations/prod/resources HTTP/1.1\r\nHost: h\r\n\r\n');
    return socket;
  }

  it('writes a long list completely, and handles other events meanwhile', async () => {
    let handled = 0;
    const counted = many.map((resource, index) => ({
      ...resource,
      // Read when the resource is written.
      get id() {
        if (index === 0) setImmediate(() => (handled += 1));
        return index < many.length - 1 ? resource.id : `${handled}`;
      },
    }));
    const { request } = await startApp(exporterOf(detailOf(many, { snapshot: { parts: [counted] } })));
    const expected = [...many.slice(0, -1).map(({ id }) => id), '1'];
    expect(idsOf((await request('/stations/prod/resources')).body)).toEqual(expected);
  });

  it('holds its slot while a client does not read, and releases it when the client disconnects', async () => {
    const app = await startApp(exporterOf(detailOf(many)));
    const sockets = Array.from({ length: 40 }, () => openUnread(app));
    await eventually(async () => expect((await app.request('/config')).status).toBe(503));
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect((await app.request('/config')).status).toBe(200));
    expect(app.reported).toEqual([]);
  });
});

describe('refreshList', () => {
  const refresh: EndedRefresh = {
    atMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    outcome: 'succeeded',
    waitedMs: 2000.4,
    durationMs: 1234,
    pages: 3,
    resources: 42,
    firing: 2,
    unknown: 7,
    added: 1,
    removed: 0,
    stateChanges: 4,
    rulesChanges: 5,
  };
  const failure: EndedRefresh = {
    atMs: Date.UTC(2026, 0, 2, 3, 3, 59),
    outcome: 'failed',
    waitedMs: 0,
    failure: { reason: 'body', message: '=1+1, "x"\n' },
  };

  it('lists the refreshes of a station as JSON, and as a CSV file', async () => {
    const { request } = await startApp(exporterOf(detailOf([], { refreshes: [refresh, failure] })));
    const names =
      'time,outcome,failure_reason,failure_message,refresh_duration_seconds,waited_seconds,listing_pages,resources,firing_resources,unknown_state_resources,resources_added,resources_removed,state_changes,rules_changes';
    const rows = JSON.parse((await request('/stations/prod/refreshes')).body) as object[];
    expect(rows.map((row) => Object.keys(row).join())).toEqual([names, names]);
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['2026-01-02T03:04:05.000Z', 'succeeded', null, null, 1.234, 2, 3, 42, 2, 7, 1, 0, 4, 5],
      ['2026-01-02T03:03:59.000Z', 'failed', 'body', '=1+1, "x"\n', null, 0, ...Array(8).fill(null)],
    ]);
    const { headers, body } = await request('/stations/prod/refreshes?format=csv');
    expect(headers['content-disposition']).toBe('attachment; filename="prod-refreshes.csv"');
    expect(body.split('\r\n')).toEqual([
      `\ufeff${names}`,
      '"2026-01-02T03:04:05.000Z","succeeded",,,1.234,2,3,42,2,7,1,0,4,5',
      `"2026-01-02T03:03:59.000Z","failed","body","'=1+1, ""x""\\u{a}",,0,,,,,,,,`,
      '',
    ]);
  });
});
