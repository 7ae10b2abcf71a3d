import { type ApiClient, problemOf } from '../alerting/api-client.ts';
import { type DrillAlert, type DrillRow, drillAlerts, firingAlerts, sendDrill } from '../alerting/drill.ts';
import { labelsText } from '../alerting/labels.ts';
import { destinationsOf } from '../alerting/routing.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { tableOf } from '../cli/table.ts';
import { formatProblems } from '../config/problem.ts';
import { suggestion } from '../text/quoted.ts';
import { countText, namesText } from '../text/words.ts';
import { readChain, withApi } from './alerting-chain.ts';
import { withConfig } from './config-source.ts';
import { type ProcessContext, screenOf } from './process-context.ts';

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
    const preview = ({ labels }: DrillAlert): DrillRow => {
      const receivers = destinationsOf(labels, routing.route).map(({ receiver }) => receiver);
      return { labels, receivers, suppressedBy: [] };
    };
    const rows = flags.send ? await sentRows(context, flags, alerts) : alerts.map(preview);
    for (const line of tableOf(COLUMNS, rows, screenOf(context, flags.wide)).lines) context.print(line);
    const lost = rows.filter(({ receivers }) => receivers.length === 0).length;
    const count = countText(rows.length - lost, 'alert');
    const end = `They end at ${alerts[0]?.endsAt}; until then they can inhibit real alerts with the same labels.`;
    context.print(
      flags.send
        ? `\n${count} arrived at Alertmanager, ${lost} did not. ${end}\n`
        : `\n${count} would be sent to ${flags['alertmanager.url']}; --send sends them.\n`,
    );
    return lost === 0 ? 0 : 1;
  });
}

async function sentRows(
  context: ProcessContext,
  flags: FlagValues,
  alerts: readonly DrillAlert[],
): Promise<readonly DrillRow[]> {
  const send = async (client: ApiClient) => {
    const firing = await firingAlerts(client);
    if (firing.length > 0 && !flags.force)
      throw new OperatorError([
        `not sent, because alerts are firing: ${namesText(firing)}; --force sends the drill nevertheless`,
      ]);
    return sendDrill(client, alerts);
  };
  try {
    return (await withApi(context, flags, 'alertmanager', send)) ?? [];
  } catch (error) {
    throw new OperatorError([problemOf(error)]);
  }
}

const COLUMNS = [
  { heading: 'ALERT', cell: ({ labels }: DrillRow) => labels['alertname'] },
  { heading: 'SEVERITY', cell: ({ labels }: DrillRow) => labels['severity'] },
  { heading: 'RECEIVERS', cell: ({ receivers }: DrillRow) => receivers.join(', ') || 'did not arrive' },
  { heading: 'SUPPRESSED BY', cell: ({ suppressedBy }: DrillRow) => suppressedBy.join(', ') },
  { heading: 'LABELS', rank: 1, cell: ({ labels }: DrillRow) => labelsText(labels, ['alertname', 'severity']) },
];
