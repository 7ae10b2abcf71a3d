import type { RouteRow } from '../alerting/alertmanager-findings.ts';
import type { ChainFinding } from '../alerting/finding.ts';
import { countText } from '../text/words.ts';
import { paragraphs, reportTable } from './check-report.ts';
import { type Colour, coloured, type Screen } from './table.ts';

const COLOURS: Readonly<Record<ChainFinding['kind'], Colour>> = {
  failure: 'red',
  warning: 'yellow',
  'not checked': 'yellow',
  ok: 'green',
};

/** The conclusion, what to do, what is in order, and where each alert goes. */
export function chainReport(findings: readonly ChainFinding[], rows: readonly RouteRow[], screen?: Screen): string {
  const kinds = Object.keys(COLOURS) as ChainFinding['kind'][];
  const counts = kinds.map((kind) => ({ kind, count: findings.filter((one) => one.kind === kind).length }));
  const [failures = 0, warnings = 0, unchecked = 0] = counts.map(({ count }) => count);
  const conclusion = [
    failures > 0 && `broken, ${countText(failures, 'failure')}`,
    warnings > 0 && countText(warnings, 'warning'),
    unchecked > 0 && `${unchecked} not checked`,
  ].filter((part) => part !== false);
  const texts = kinds.flatMap((kind) =>
    findings
      .filter((one) => one.kind === kind)
      .map(({ what, advice }) => {
        const text = paragraphs(
          [`${kind}: ${what}`, ...(advice === undefined ? [] : [`  what to do: ${advice}`])],
          screen?.columns,
        );
        return screen?.hasColours ? coloured(kind, COLOURS[kind]) + text.slice(kind.length) : text;
      }),
  );
  const table = rows.length === 0 ? '' : `\n${reportTable(COLUMNS, rows, screen)}`;
  return `alerting chain: ${conclusion.join(', ') || 'complete, no problem found'}\n\n${texts.join('')}${table}`;
}

const COLUMNS = [
  { heading: 'ALERT', cell: ({ alert }: RouteRow) => alert },
  { heading: 'SEVERITY', rank: 3, cell: ({ severity }: RouteRow) => severity },
  { heading: 'OF', rank: 4, cell: ({ of }: RouteRow) => of },
  { heading: 'RECEIVER', cell: ({ receiver }: RouteRow) => receiver },
  { heading: 'GROUPED BY', rank: 2, cell: ({ groupBy }: RouteRow) => groupBy.join(', ') || 'nothing' },
  { heading: 'REPEATED', rank: 1, cell: ({ repeat }: RouteRow) => `every ${repeat}` },
];
