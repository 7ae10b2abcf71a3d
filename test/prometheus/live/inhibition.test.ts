import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAlertmanager } from './alertmanager.ts';

type Labels = Readonly<Record<string, string>>;

let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;

beforeAll(async () => {
  alertmanager = await startAlertmanager({ minuteS: 2 });
});

afterAll(() => alertmanager?.stop());

const firing = (name: string, labels: Labels) => ({
  labels: { alertname: `TelemetryStation${name}`, job: 'j', ...labels },
});

/** Whether each alert is sent, or not because another one explains it. */
async function states(): Promise<Record<string, string>> {
  const response = await fetch(`${alertmanager.url}/api/v2/alerts`);
  const alerts = (await response.json()) as { labels: Labels; status: { state: string } }[];
  return Object.fromEntries(
    alerts.map(({ labels: { alertname = '', job: _, resource_id: __, ...labels }, status }) => [
      [alertname.replace('TelemetryStation', ''), ...Object.values(labels)].join(' '),
      status.state,
    ]),
  );
}

describe('deploy/compose/alertmanager.yml', () => {
  it('sends one alert per cause, of that cluster, upstream, station and target alone', async () => {
    const down = { station: 'a', upstream: 'down' };
    const alerts = [
      firing('UpstreamDown', { upstream: 'down' }),
      firing('Down', down),
      firing('DataStale', down),
      firing('ListingIncomplete', down),
      firing('UnknownState', down),
      firing('Overloaded', { upstream: 'down' }),
      firing('ResourceFiring', { ...down, resource_id: '1' }),
      firing('Down', { station: 'b', upstream: 'up' }),
      firing('Down', { ...down, cluster: 'east' }),
      firing('DataStale', { station: 'c', upstream: 'up' }),
      firing('Down', { station: 'c', upstream: 'up' }),
      firing('ManyResourcesFiring', { station: 'mass', upstream: 'up' }),
      firing('ResourceFiring', { station: 'mass', upstream: 'up', resource_id: '2' }),
      firing('ResourceFiring', { station: 'other', upstream: 'up', resource_id: '3' }),
      firing('ResourcesLost', { station: 'lost', upstream: 'up' }),
      firing('CapacityDropped', { station: 'lost', upstream: 'up' }),
      firing('ExporterDown', { instance: 'x' }),
      firing('ScrapeSlow', { instance: 'x' }),
      firing('ScrapeSlow', { instance: 'y' }),
      firing('ExporterAbsent', {}),
      firing('ExporterAbsent', { cluster: 'east' }),
      firing('ShardsIncomplete', {}),
    ];
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    expect(response.status).toBe(200);
    await expect.poll(states).toEqual({
      'UpstreamDown down': 'active',
      'Down a down': 'suppressed',
      'DataStale a down': 'suppressed',
      'ListingIncomplete a down': 'suppressed',
      'UnknownState a down': 'suppressed',
      'Overloaded down': 'suppressed',
      'ResourceFiring a down': 'active',
      'Down b up': 'active',
      'Down east a down': 'active',
      'DataStale c up': 'active',
      'Down c up': 'suppressed',
      'ManyResourcesFiring mass up': 'active',
      'ResourceFiring mass up': 'suppressed',
      'ResourceFiring other up': 'active',
      'ResourcesLost lost up': 'active',
      'CapacityDropped lost up': 'suppressed',
      'ExporterDown x': 'active',
      'ScrapeSlow x': 'suppressed',
      'ScrapeSlow y': 'active',
      ExporterAbsent: 'suppressed',
      'ExporterAbsent east': 'active',
      ShardsIncomplete: 'suppressed',
    });
  });
});
