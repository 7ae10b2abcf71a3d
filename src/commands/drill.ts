import { setTimeout as delay } from 'node:timers/promises';
import type { AlertmanagerConfig } from '../alerting/alertmanager-findings.ts';
import type { ApiClient } from '../alerting/api-client.ts';
import { type DrillAlert, drillAlerts, realAlerts, sendDrill } from '../alerting/drill.ts';
import { type Labels, labelsText } from '../alerting/labels.ts';
import { destinationsOf } from '../alerting/routing.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { tableOf } from '../cli/table.ts';
import { formatProblems } from '../config/problem.ts';
import { suggestion } from '../text/quoted.ts';
import { countText, namesText } from '../text/words.ts';
import { readApi, readChain } from './alerting-chain.ts';
import { withConfig } from './config-source.ts';
import { type ProcessContext, screenOf } from './process-context.ts';

/** Between two reads of what became of the alerts. */
const PAUSE_MS = 500;

/** Prints the alerts of a drill, or sends them and prints what became of them. Resolves with the exit code. */
export async function drill(context: ProcessContext, flags: FlagValues, name: string): Promise<number> {
  return withConfig(context, flags, async (load) => {
    const loaded = await load();
    if (!loaded.ok) throw new OperatorError(formatProblems(loaded.problems));
    const { alerts: all, routing, findings } = await readChain(context, flags, loaded);
    if (routing === undefined) throw new OperatorError(findings.map(({ what }) => what));
    const alerts = drillAlerts(all, name, Date.now());
    const names = [...new Set(all.map(({ rule }) => rule.name))];
    if (alerts.length === 0)
      throw new OperatorError([`unknown alert ${JSON.stringify(name)}${suggestion(name, names)}`]);
    if (!flags.send) return preview(context, flags, alerts, routing);
    const code = await readApi(context, flags, 'alertmanager', (client) => sendAlerts(context, flags, alerts, client));
    return code as number;
  });
}

interface DrillRow {
  readonly labels: Labels;
  readonly receivers: readonly string[];
  readonly suppressedBy: readonly string[];
}

function preview(
  context: ProcessContext,
  flags: FlagValues,
  alerts: readonly DrillAlert[],
  { route }: AlertmanagerConfig,
) {
  const rows = alerts.map(({ labels }) => ({
    labels,
    receivers: destinationsOf(labels, route).map(({ receiver }) => receiver),
    suppressedBy: [],
  }));
  printRows(context, flags, rows);
  context.print(
    `\n${countText(alerts.length, 'alert')} would be sent to ${flags['alertmanager.url']}; --send sends them.\n`,
  );
  return 0;
}

async function sendAlerts(
  context: ProcessContext,
  flags: FlagValues,
  alerts: readonly DrillAlert[],
  client: ApiClient,
) {
  const real = await realAlerts(client);
  if (!real.ok) throw new OperatorError([real.problem]);
  const firing = [...new Set(real.value.map(({ labels }) => `${labels['alertname']}`))];
  if (firing.length > 0 && !flags.force)
    throw new OperatorError([
      `not sent, because alerts are firing: ${namesText(firing)}; --force sends the drill nevertheless`,
    ]);
  const sent = await sendDrill(client, alerts, () => delay(PAUSE_MS));
  if (!sent.ok) throw new OperatorError([sent.problem]);
  printRows(context, flags, sent.value);
  const lost = sent.value.filter(({ receivers }) => receivers.length === 0).length;
  const end = `They end at ${alerts[0]?.endsAt}; until then they can inhibit real alerts with the same labels.`;
  context.print(`\n${countText(alerts.length - lost, 'alert')} arrived at Alertmanager, ${lost} did not. ${end}\n`);
  return lost === 0 ? 0 : 1;
}

function printRows(context: ProcessContext, { wide }: FlagValues, rows: readonly DrillRow[]): void {
  const columns = [
    { heading: 'ALERT', cell: ({ labels }: DrillRow) => labels['alertname'] },
    { heading: 'SEVERITY', cell: ({ labels }: DrillRow) => labels['severity'] },
    { heading: 'RECEIVERS', cell: ({ receivers }: DrillRow) => receivers.join(', ') || 'did not arrive' },
    { heading: 'SUPPRESSED BY', cell: ({ suppressedBy }: DrillRow) => suppressedBy.join(', ') },
    { heading: 'LABELS', rank: 1, cell: ({ labels }: DrillRow) => labelsText(labels, ['alertname', 'severity']) },
  ];
  for (const line of tableOf(columns, rows, screenOf(context, wide)).lines) context.print(line);
}
