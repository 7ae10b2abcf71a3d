import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAlertmanager } from './alertmanager.ts';

type Labels = Readonly<Record<string, string>>;

let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;

beforeAll(async () => {
  alertmanager = await startAlertmanager(2);
});

afterAll(() => alertmanager?.stop());

const DOWN = { station: 'a', upstream: 'down' };

/** Alerts that fire at once, and whether each is sent, or not because another one explains it. */
const ALERTS: readonly (readonly [name: string, labels: Labels, state: 'active' | 'suppressed'])[] = [
  ['UpstreamDown', { upstream: 'down' }, 'active'],
  ['Down', DOWN, 'suppressed'],
  ['DataStale', DOWN, 'suppressed'],
  ['ListingIncomplete', DOWN, 'suppressed'],
  ['UnknownState', DOWN, 'suppressed'],
  ['Overloaded', { upstream: 'down' }, 'suppressed'],
  ['ResourceFiring', { ...DOWN, resource_id: '1' }, 'active'],
  ['Down', { station: 'b', upstream: 'up' }, 'active'],
  ['Down', { ...DOWN, cluster: 'east' }, 'active'],
  ['DataStale', { station: 'c', upstream: 'up' }, 'active'],
  ['Down', { station: 'c', upstream: 'up' }, 'suppressed'],
  ['ManyResourcesFiring', { station: 'mass', upstream: 'up' }, 'active'],
  ['ResourceFiring', { station: 'mass', upstream: 'up', resource_id: '2' }, 'suppressed'],
  ['ResourceFiring', { station: 'other', upstream: 'up', resource_id: '3' }, 'active'],
  ['ResourcesLost', { station: 'lost', upstream: 'up' }, 'active'],
  ['CapacityDropped', { station: 'lost', upstream: 'up' }, 'suppressed'],
  ['ExporterDown', { instance: 'x' }, 'active'],
  ['ScrapeSlow', { instance: 'x' }, 'suppressed'],
  ['ScrapeSlow', { instance: 'y' }, 'active'],
  ['ExporterAbsent', {}, 'suppressed'],
  ['ExporterAbsent', { cluster: 'east' }, 'active'],
  ['ShardsIncomplete', {}, 'suppressed'],
];

const labelled = (name: string, labels: Labels) => ({ ...labels, alertname: `TelemetryStation${name}`, job: 'j' });

describe('deploy/compose/alertmanager.yml', () => {
  it('sends one alert per cause, of that cluster, upstream, station and target alone', async () => {
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ALERTS.map(([name, labels]) => ({ labels: labelled(name, labels) }))),
    });
    expect(response.status).toBe(200);
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
});
