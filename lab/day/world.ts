import { parse } from 'yaml';
import { type Fault, replyWith, wrongTotal } from '../simulator/faults.ts';
import { type FleetEntry, type FleetOptions, SimulatedFleet } from '../simulator/fleet.ts';
import { isSamePath, type SimulatedPath } from '../simulator/listing.ts';
import { hashText } from '../simulator/random.ts';
import { startConfigured } from '../simulator/simulation.ts';
import { demoStations, type SimulatedStation } from '../simulator/stations.ts';

/** The end of the day, fixed like the seed, so that pictures of it are reproducible. */
export const END_MS = Date.parse('2026-01-15T12:00Z');
/** The time from scrape to scrape. */
export const STEP_MS = 180_000;
export const HOUR_MS = 3_600_000;
/** So long before the end that ages are about a minute, however long the refreshes take. */
export const LAST_SCRAPE_MS = END_MS - 75_000;
const SEED = 1;
/** The fleets of the demo change so fast that minutes show something: a quarter of it is a usual day. */
const SLOWNESS = 4;

interface Event {
  /** Name of a station or an upstream. */
  readonly where: string;
  readonly from: string;
  /** Default: the end of the day. */
  readonly to?: string;
  readonly fault?: Fault;
  /** undefined: the service no longer lists it. */
  readonly change?: (entry: FleetEntry) => FleetEntry | undefined;
}

/** So many that the table of stations in the pictures is full. */
const STATIONS: readonly SimulatedStation[] = [
  ...demoStations,
  healthyStation({ name: 'inference', size: 840, emphasis: 'compute' }, 'llm'),
  healthyStation({ name: 'render', size: 360, emphasis: 'compute' }, 'media'),
  healthyStation({ name: 'billing', size: 190, emphasis: 'network' }, 'finance'),
  healthyStation({ name: 'backup', size: 540, emphasis: 'storage' }, 'storage'),
  healthyStation({ name: 'sandbox', size: 130, emphasis: 'compute' }, 'research'),
];

function healthyStation(fleet: FleetOptions, team: string): SimulatedStation {
  return {
    ...fleet,
    upstream: 'east',
    subscription: 'simulated',
    resource_group: team,
    zone: 'cn-sh-01a',
    telemetry_station: `ts-${fleet.name}`,
    products: ['product.aec2', 'product.afs'],
    alertability: true,
    labels: { team, environment: 'production' },
    faults: [],
  };
}

const EVENTS: readonly Event[] = [
  { where: 'staging', from: '2026-01-14T15:12Z', to: '2026-01-14T16:21Z', change: withFailedHosts },
  { where: 'north', from: '2026-01-15T02:30Z', to: '2026-01-15T03:12Z', fault: replyWith(503) },
  {
    where: 'training',
    from: '2026-01-15T06:30Z',
    to: '2026-01-15T06:33Z',
    fault: replyWith(429, { 'retry-after': '2' }),
  },
  { where: 'sandbox', from: '2026-01-15T08:40Z', change: withMutedVolumes },
  { where: 'edge', from: '2026-01-15T11:18Z', fault: replyWith(403) },
  { where: 'render', from: '2026-01-15T11:30Z', change: withoutReleasedHosts },
  { where: 'inference', from: '2026-01-15T11:41Z', change: withFailedHosts },
  { where: 'personal', from: '2026-01-15T11:51Z', fault: wrongTotal(3) },
];

/** The service of the demo, with a daily curve and the events of the day instead of its faults, and an exporter configuration. */
export async function startWorld(now: () => number) {
  const stations = STATIONS.map((station) => ({ station, entriesAt: entriesOf(station) }));
  const find = (path: SimulatedPath) => stations.find(({ station }) => isSamePath(station, path));
  const { service, config } = await startConfigured(
    {
      now,
      source: (path, atMs) => find(path)?.entriesAt(atMs),
      faults: (request) => {
        const found = request && find(request.path);
        return found === undefined ? [] : eventsAt(found.station, now()).flatMap(({ fault }) => fault ?? []);
      },
    },
    STATIONS.map(({ size: _size, emphasis: _emphasis, faults: _faults, ...station }) => station),
    { pageSize: 1000 },
  );
  const { cache: _cache, upstreams, ...rest } = parse(config) as { cache: object; upstreams: Record<string, object> };
  // The clock does not move timers: a throttled refresh takes real time.
  const changed = { refresh_timeout: '30s', authorization: { credentials: 'token-of-the-day' } };
  const adjusted = Object.entries(upstreams).map(([name, one]) => [name, { ...one, ...changed }]);
  return { service, config: { ...rest, upstreams: Object.fromEntries(adjusted) } };
}

/** The resources of a station by time. All pages of a listing have the same time, so that the latest list is kept. */
function entriesOf(station: SimulatedStation): (atMs: number) => readonly FleetEntry[] {
  const fleet = new SimulatedFleet(SEED, station);
  let latest: { readonly atMs: number; readonly entries: readonly FleetEntry[] } | undefined;
  return (atMs) => {
    if (latest?.atMs !== atMs) {
      const changes = eventsAt(station, atMs).flatMap(({ change }) => change ?? []);
      const entries = dailyEntries(fleet.at(END_MS - (END_MS - atMs) / SLOWNESS), atMs);
      latest = {
        atMs,
        entries: changes.reduce((changed, change) => changed.flatMap((entry) => change(entry) ?? []), entries),
      };
    }
    return latest.entries;
  };
}

function eventsAt({ name, upstream }: SimulatedStation, atMs: number): Event[] {
  return EVENTS.filter(
    ({ where, from, to }) =>
      [name, upstream].includes(where) && atMs >= Date.parse(from) && (to === undefined || atMs < Date.parse(to)),
  );
}

const FIRING = 'ALERTSTATE_FIRING';
const PENDING = 'ALERTSTATE_PENDING';
const INACTIVE = 'ALERTSTATE_INACTIVE';

/** At night there are fewer workspaces and jobs, and fewer alerts. */
function dailyEntries(entries: readonly FleetEntry[], atMs: number): FleetEntry[] {
  // From 0 at three in the night to 1 twelve hours later.
  const activity = 0.5 - 0.5 * Math.cos((2 * Math.PI * (atMs / HOUR_MS - 3)) / 24);
  const shares = new Map([
    [FIRING, 0.25 + 0.75 * activity],
    [PENDING, 0.05 + 0.1 * activity],
  ]);
  return entries
    .filter(({ record }) => !isShortLived(record) || rankOf(record) < 0.85 + 0.15 * activity)
    .map((entry) => (rankOf(entry.record) < (shares.get(entry.record.state) ?? 1) ? entry : inState(entry, INACTIVE)));
}

function withFailedHosts(entry: FleetEntry): FleetEntry {
  const isFailed = isHost(entry) && entry.record.alert_rules_count > 0 && rankOf(entry.record) < 0.6;
  return isFailed ? inState(entry, FIRING) : entry;
}

/** So many that they are lost, rather than removed one by one. */
function withoutReleasedHosts(entry: FleetEntry): FleetEntry | undefined {
  return isHost(entry) && rankOf(entry.record) < 0.8 ? undefined : entry;
}

/** In a state of unknown meaning. */
function withMutedVolumes(entry: FleetEntry): FleetEntry {
  const isMuted = entry.record.resource_type.label === 'AFS volume' && rankOf(entry.record) < 0.4;
  return isMuted ? inState(entry, 'ALERTSTATE_MUTED') : entry;
}

function isHost({ record }: FleetEntry): boolean {
  return record.resource_type.label === 'AEC2 instance';
}

function isShortLived({ resource_type }: FleetEntry['record']): boolean {
  return ['Workspace', 'Training job'].includes(resource_type.label);
}

/** From 0 to 1, constant for a resource. */
function rankOf({ resource_id }: FleetEntry['record']): number {
  return hashText(resource_id) / 2 ** 32;
}

function inState(entry: FleetEntry, state: string): FleetEntry {
  return { ...entry, record: { ...entry.record, state } };
}
