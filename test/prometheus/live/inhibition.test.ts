import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAlertmanager } from './alertmanager.ts';

type Labels = Readonly<Record<string, string>>;

let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;

beforeAll(async () => {
  alertmanager = await startAlertmanager('none');
});

afterAll(() => alertmanager?.stop());

const firing = (name: string, labels: Labels) => ({
  labels: { alertname: `TelemetryStation${name}`, job: 'j', ...labels },
});

/** Names and stations of the alerts that are sent, and of those that are not because another one explains them. */
async function states(): Promise<Record<string, string>> {
  const response = await fetch(`${alertmanager.url}/api/v2/alerts`);
  const alerts = (await response.json()) as { labels: Labels; status: { state: string } }[];
  return Object.fromEntries(
    alerts.map(({ labels, status }) => [
      [labels['alertname'], labels['station'] ?? labels['instance']].join(' '),
      status.state,
    ]),
  );
}

describe('deploy/compose/alertmanager.yml', () => {
  it('sends one alert for a mass failure and not one per resource, of that station alone', async () => {
    const alerts = [
      firing('ManyResourcesFiring', { station: 'mass' }),
      firing('ResourceFiring', { station: 'mass', resource_id: '1' }),
      firing('ResourceFiring', { station: 'other', resource_id: '2' }),
      firing('Down', { station: 'down' }),
      firing('ListingIncomplete', { station: 'down' }),
      firing('ResourceFiring', { station: 'down', resource_id: '3' }),
      firing('ResourcesLost', { station: 'lost' }),
      firing('CapacityDropped', { station: 'lost' }),
      firing('CapacityBelowExpected', { job: '', station: 'lost' }),
      firing('CapacityBelowExpected', { job: '', station: 'other' }),
      firing('ScrapesFailing', { instance: 'a' }),
      firing('ScrapeSlow', { instance: 'a' }),
      firing('ScrapeSlow', { instance: 'b' }),
    ];
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    expect(response.status).toBe(200);
    await expect.poll(states).toEqual({
      'TelemetryStationManyResourcesFiring mass': 'active',
      'TelemetryStationResourceFiring mass': 'suppressed',
      'TelemetryStationResourceFiring other': 'active',
      'TelemetryStationDown down': 'active',
      'TelemetryStationListingIncomplete down': 'suppressed',
      'TelemetryStationResourceFiring down': 'active',
      'TelemetryStationResourcesLost lost': 'active',
      'TelemetryStationCapacityDropped lost': 'suppressed',
      'TelemetryStationCapacityBelowExpected lost': 'suppressed',
      'TelemetryStationCapacityBelowExpected other': 'active',
      'TelemetryStationScrapesFailing a': 'active',
      'TelemetryStationScrapeSlow a': 'suppressed',
      'TelemetryStationScrapeSlow b': 'active',
    });
  });
});
