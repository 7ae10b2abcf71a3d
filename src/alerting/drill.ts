import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { SentAlert } from './alerts.ts';
import type { ApiClient } from './api-client.ts';
import type { Labels } from './labels.ts';
import { isOurs } from './rules.ts';

const DRILL_MS = 5 * 60_000;

export type DrillAlert = ReturnType<typeof drillAlerts>[number];

/** The first alert of each rule, or of those with the name, in the form of the API. */
export function drillAlerts(alerts: readonly SentAlert[], name: string, nowMs: number) {
  // The alerts of a rule follow each other.
  const first = alerts.filter(({ rule }, at) => rule !== alerts[at - 1]?.rule);
  const drilled = first.filter(({ rule }) => name === '' || rule.name === name);
  const [startsAt = '', endsAt = ''] = [nowMs, nowMs + DRILL_MS].map((ms) => new Date(ms).toISOString());
  return drilled.map(({ labels, rule: { annotations } }) => ({
    labels: { ...labels, drill: 'true' },
    annotations: {
      runbook_url: annotations['runbook_url'],
      summary: `[DRILL] ${annotations['summary']}`,
      description: `Sent by telemetry-station-exporter drill until ${endsAt}. Nothing is wrong.`,
    },
    startsAt,
    endsAt,
  }));
}

const knownAlert = z.object({
  fingerprint: z.string(),
  labels: z.record(z.string(), z.string()),
  receivers: z.array(z.object({ name: z.string() })),
  status: z.object({ inhibitedBy: z.array(z.string()), silencedBy: z.array(z.string()) }),
});

const readAlerts = (client: ApiClient) => client.get('api/v2/alerts', z.array(knownAlert));

/** The names of firing alerts of the exporter that are no drill. */
export async function firingAlerts(client: ApiClient): Promise<readonly string[]> {
  const real = (await readAlerts(client)).filter(({ labels }) => labels['drill'] !== 'true');
  return [...new Set(real.map(({ labels }) => `${labels['alertname']}`).filter(isOurs))];
}

/** What becomes of an alert, or became of it. */
export interface DrillRow {
  readonly labels: Labels;
  /** Empty: it did not arrive. */
  readonly receivers: readonly string[];
  readonly suppressedBy: readonly string[];
}

/** Alertmanager takes a moment to inhibit alerts. */
const PAUSE_MS = 500;
const MAX_READS = 6;

/** Sends the alerts, and reads them until nothing has changed from one read to the next. */
export async function sendDrill(client: ApiClient, alerts: readonly DrillAlert[]): Promise<readonly DrillRow[]> {
  await client.post('api/v2/alerts', alerts);
  let rows: readonly DrillRow[] = [];
  for (let read = 1, isChanged = true; isChanged && read <= MAX_READS; read += 1) {
    await delay(PAUSE_MS);
    const known = await readAlerts(client);
    const before = rows;
    rows = alerts.map(({ labels }) => rowOf(labels, known));
    isChanged = !isDeepStrictEqual(rows, before);
  }
  return rows;
}

function rowOf(labels: Labels, known: readonly z.output<typeof knownAlert>[]): DrillRow {
  const own = known.find((alert) => isDeepStrictEqual(alert.labels, labels));
  const inhibitors = known.filter(({ fingerprint }) => own?.status.inhibitedBy.includes(fingerprint));
  const silences = own?.status.silencedBy ?? [];
  return {
    labels,
    receivers: own?.receivers.map(({ name }) => name) ?? [],
    suppressedBy: [
      ...inhibitors.map((alert) => `${alert.labels['alertname']}`),
      ...silences.map((id) => `silence ${id}`),
    ],
  };
}
