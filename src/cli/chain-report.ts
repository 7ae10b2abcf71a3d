import type { AlertRoute } from '../alerting/alertmanager-findings.ts';
import type { ChainFinding } from '../alerting/finding.ts';
import { labelsText } from '../alerting/labels.ts';
import { countText } from '../text/words.ts';
import { paragraphs, reportTable } from './check-report.ts';
import { coloured, type Screen } from './table.ts';

const COLOURS = { failure: 'red', warning: 'yellow', 'not checked': 'yellow', ok: 'green' } as const;

/** The conclusion, what to do, what is in order, and where each alert goes. */
export function chainReport(findings: readonly ChainFinding[], routes: readonly AlertRoute[], screen?: Screen): string {
  const found = (verdict: ChainFinding['verdict']) => findings.filter((one) => one.verdict === verdict);
  const [failures, warnings, unchecked] = [found('failure'), found('warning'), found('not checked')];
  const conclusion = [
    ...(failures.length > 0 ? [`broken, ${countText(failures.length, 'failure')}`] : []),
    ...(warnings.length > 0 ? [countText(warnings.length, 'warning')] : []),
    ...(unchecked.length > 0 ? [`${unchecked.length} not checked`] : []),
  ];
  const texts = [...failures, ...warnings, ...unchecked, ...found('ok')].map(({ verdict, what, advice }) => {
    const lines = [`${verdict}: ${what}`, ...(advice === '' ? [] : [`  what to do: ${advice}`])];
    const text = paragraphs(lines, screen?.columns);
    return screen?.hasColours ? coloured(verdict, COLOURS[verdict]) + text.slice(verdict.length) : text;
  });
  const table = routes.length === 0 ? '' : `\n${reportTable(COLUMNS, routes.flatMap(routeRows), screen)}`;
  return `alerting chain: ${conclusion.join(', ') || 'complete, no problem found'}\n\n${texts.join('')}${table}`;
}

type RouteRow = ReturnType<typeof routeRows>[number];

/** A row per destination. */
function routeRows({ labels, count, destinations }: AlertRoute, _: number, routes: readonly AlertRoute[]) {
  const names = ['alertname', 'severity'];
  const isSame = (other: AlertRoute) => names.every((name) => other.labels[name] === labels[name]);
  const of = routes.filter(isSame).length === 1 ? 'all' : `${count}, such as ${labelsText(labels, COMMON)}`;
  return destinations.map((destination) => ({ ...destination, labels, of }));
}

/** What does not distinguish alerts of a name. */
const COMMON = ['alertname', 'severity', 'job', 'instance', 'pod', 'cluster', 'upstream'];

function receiverCell({ receiver, hasIntegration, mutedBy }: RouteRow): string {
  const lack = hasIntegration ? '' : ' (no integration)';
  return `${receiver}${lack}${mutedBy.length === 0 ? '' : ` (muted: ${mutedBy.join(', ')})`}`;
}

const COLUMNS = [
  { heading: 'ALERT', cell: ({ labels }: RouteRow) => labels['alertname'] },
  { heading: 'SEVERITY', rank: 3, cell: ({ labels }: RouteRow) => labels['severity'] },
  { heading: 'OF', rank: 4, cell: ({ of }: RouteRow) => of },
  { heading: 'RECEIVER', cell: receiverCell },
  { heading: 'GROUPED BY', rank: 2, cell: ({ groupBy }: RouteRow) => groupBy.join(', ') || 'nothing' },
  { heading: 'REPEATED', rank: 1, cell: ({ repeat }: RouteRow) => `every ${repeat}` },
];
