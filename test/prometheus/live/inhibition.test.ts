import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startAlertmanager } from './alertmanager.ts';

type Labels = Readonly<Record<string, string>>;

let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;

beforeAll(async () => {
  alertmanager = await startAlertmanager(2);
});

afterAll(() => alertmanager?.stop());

const DOWN = { station: 'a', upstream: 'down' };
const OWNED = { station: 'owned', upstream: 'down', team: 'storage' };
const MASS = { station: 'mass', upstream: 'up', team: 'storage' };

/** Alerts that fire at once, and whether each is sent, or not because another one explains it. */
const ALERTS: readonly (readonly [name: string, labels: Labels, state: 'active' | 'suppressed'])[] = [
  ['UpstreamDown', { upstream: 'down' }, 'active'],
  ['Down', DOWN, 'suppressed'],
  ['DataStale', DOWN, 'suppressed'],
  // An outage of the upstream does not cause them.
  ['ListingIncomplete', DOWN, 'active'],
  ['UnknownState', DOWN, 'active'],
  ['Overloaded', { upstream: 'down' }, 'suppressed'],
  ['ResourceFiring', { ...DOWN, resource_id: '1' }, 'active'],
  ['Down', { station: 'b', upstream: 'up' }, 'active'],
  ['Down', { ...DOWN, cluster: 'east' }, 'active'],
  // The team gets one alert, the pager none beside UpstreamDown.
  ['Down', OWNED, 'active'],
  ['DataStale', OWNED, 'suppressed'],
  ['DataStale', { station: 'c', upstream: 'up' }, 'active'],
  ['Down', { station: 'c', upstream: 'up' }, 'suppressed'],
  ['ManyResourcesFiring', MASS, 'active'],
  ['ResourceFiring', { ...MASS, resource_id: '2' }, 'suppressed'],
  ['ResourceFiring', { ...MASS, resource_id: '3', team: 'network' }, 'active'],
  ['ResourceFiring', { station: 'mass', upstream: 'up', resource_id: '7' }, 'suppressed'],
  ['ResourceFiring', { ...MASS, resource_id: '4', station: 'other' }, 'active'],
  ['ManyResourcesFiring', { station: 'no owner', upstream: 'up' }, 'active'],
  ['ResourceFiring', { station: 'no owner', upstream: 'up', resource_id: '5' }, 'suppressed'],
  ['ResourceFiring', { station: 'no owner', upstream: 'up', resource_id: '6', team: 'network' }, 'active'],
  ['ResourcesLost', { station: 'lost', upstream: 'up' }, 'active'],
  ['CapacityDropped', { station: 'lost', upstream: 'up' }, 'suppressed'],
  ['ExporterDown', { instance: 'x' }, 'active'],
  ['UnknownState', { station: 'unclear', upstream: 'up', severity: 'critical' }, 'active'],
  ['UnknownState', { station: 'unclear', upstream: 'up', severity: 'warning' }, 'suppressed'],
  ['ListingIncomplete', { station: 'unclear', upstream: 'up', severity: 'warning' }, 'active'],
  // Of the job, of which other targets can be up.
  ['ExporterAbsent', {}, 'active'],
  ['ShardsIncomplete', {}, 'active'],
];

const labelled = (name: string, labels: Labels) => ({ ...labels, alertname: `TelemetryStation${name}`, job: 'j' });

describe('prometheus/alertmanager.yml', () => {
  it('sends one alert per cause, of that cluster, upstream, station, target and owner alone', async () => {
    await alertmanager.send(ALERTS.map(([name, labels]) => ({ labels: labelled(name, labels) })));
    const states = async () => {
      const alerts = (await (await fetch(`${alertmanager.url}/api/v2/alerts`)).json()) as readonly {
        readonly labels: Labels;
        readonly status: { readonly state: string };
      }[];
      return new Set(alerts.map(({ labels, status }) => ({ labels, state: status.state })));
    };
    const expected = new Set(ALERTS.map(([name, labels, state]) => ({ labels: labelled(name, labels), state })));
    await expect.poll(states).toEqual(expected);
  });

  it('sends nothing that is inhibited after a restart, unless its version cannot wait until all alerts have come again', async () => {
    const restarted = await startAlertmanager(5);
    onTestFinished(restarted.stop);
    const received = () => restarted.notifications.map(({ groupLabels }) => groupLabels['alertname']);
    const cause = { labels: labelled('UpstreamDown', { upstream: 'down' }) };
    const effect = { labels: labelled('DataStale', DOWN), startsAt: new Date(Date.now() - 3_600_000).toISOString() };
    const last = { labels: labelled('ResourcesLost', { station: 'z' }) };
    // An alert that is older than group_wait is sent at once: in one request with its cause, it can be sent before it is inhibited.
    await restarted.send([cause]);
    await expect.poll(received).toEqual(['TelemetryStationUpstreamDown']);
    await restarted.send([effect]);
    await restarted.restart();
    // Prometheus sends each alert again once a minute, in any order.
    await restarted.send([effect]);
    const atOnce = restarted.isStartDelayed ? [] : ['TelemetryStationDataStale'];
    await expect.poll(received).toEqual(['TelemetryStationUpstreamDown', ...atOnce]);
    await restarted.send([cause, last]);
    await expect.poll(received).toEqual(['TelemetryStationUpstreamDown', ...atOnce, 'TelemetryStationResourcesLost']);
  });
});
