import * as z from 'zod';
import { getOrCreate } from '../model/sums.ts';
import type { SentAlert } from './alerts.ts';
import type { ApiClient, ApiReply } from './api-client.ts';
import type { Labels } from './labels.ts';
import { isOurs } from './rules.ts';

const DRILL_MS = 5 * 60_000;

/** An alert in the form of the API. */
export interface DrillAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** The first alert of each name and severity, of one name if it is given. */
export function drillAlerts(alerts: readonly SentAlert[], name: string, nowMs: number): readonly DrillAlert[] {
  const first = new Map<string, SentAlert>();
  for (const alert of alerts.filter(({ rule }) => name === '' || rule.name === name))
    getOrCreate(first, `${alert.labels['alertname']} ${alert.labels['severity']}`, () => alert);
  const [startsAt = '', endsAt = ''] = [nowMs, nowMs + DRILL_MS].map((ms) => new Date(ms).toISOString());
  return Array.from(first.values(), ({ labels, rule: { annotations } }) => ({
    labels: { ...labels, drill: 'true' },
    annotations: {
      ...(annotations['runbook_url'] && { runbook_url: annotations['runbook_url'] }),
      summary: `[DRILL] ${annotations['summary']}`,
      description: `Sent by telemetry-station-exporter drill until ${endsAt}. Nothing is wrong.`,
    },
    startsAt,
    endsAt,
  }));
}

const alertsSchema = z.array(
  z.object({
    fingerprint: z.string(),
    labels: z.record(z.string(), z.string()),
    receivers: z.array(z.object({ name: z.string() })),
    status: z.object({ state: z.string(), inhibitedBy: z.array(z.string()), silencedBy: z.array(z.string()) }),
  }),
);

type KnownAlert = z.output<typeof alertsSchema>[number];

const readAlerts = (client: ApiClient) => client.get('api/v2/alerts', alertsSchema);

/** Alerts of the exporter that are no drill. */
export async function realAlerts(client: ApiClient): Promise<ApiReply<readonly KnownAlert[]>> {
  const reply = await readAlerts(client);
  if (!reply.ok) return reply;
  const real = reply.value.filter(({ labels }) => isOurs(`${labels['alertname']}`) && labels['drill'] !== 'true');
  return { ok: true, value: real };
}

export interface DrillResult {
  readonly labels: Labels;
  /** Empty: it did not arrive. */
  readonly receivers: readonly string[];
  readonly suppressedBy: readonly string[];
}

const MAX_READS = 6;

/** Sends the alerts, and reads them until nothing has changed from one read to the next. */
export async function sendDrill(
  client: ApiClient,
  alerts: readonly DrillAlert[],
  pause: () => Promise<unknown>,
): Promise<ApiReply<readonly DrillResult[]>> {
  const sent = await client.post('api/v2/alerts', alerts);
  if (!sent.ok) return sent;
  let before = '';
  for (let read = 1; ; read += 1) {
    await pause();
    const reply = await readAlerts(client);
    if (!reply.ok) return reply;
    const results = alerts.map(({ labels }) => resultOf(labels, reply.value));
    const text = JSON.stringify(results);
    const isComplete = results.every(({ receivers }) => receivers.length > 0);
    if ((isComplete && text === before) || read === MAX_READS) return { ok: true, value: results };
    before = text;
  }
}

function resultOf(labels: Labels, known: readonly KnownAlert[]): DrillResult {
  const own = known.find((alert) => hasExactly(alert.labels, labels));
  const inhibitors = known.filter(({ fingerprint }) => own?.status.inhibitedBy.includes(fingerprint));
  return {
    labels,
    receivers: own?.receivers.map(({ name }) => name) ?? [],
    suppressedBy: [
      ...inhibitors.map((inhibitor) => `${inhibitor.labels['alertname']}`),
      ...(own?.status.silencedBy ?? []).map((id) => `silence ${id}`),
    ],
  };
}

function hasExactly(labels: Labels, wanted: Labels): boolean {
  const names = Object.keys({ ...labels, ...wanted });
  return names.every((name) => labels[name] === wanted[name]);
}
