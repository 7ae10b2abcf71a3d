import type { RouteRow } from '../alerting/alertmanager-findings.ts';
import type { ChainFinding } from '../alerting/finding.ts';
import { countText } from '../text/words.ts';
import { paragraphs, reportTable } from './check-report.ts';
import { type Colour, coloured, type Screen } from './table.ts';

const COLOURS: Readonly<Record<ChainFinding['verdict'], Colour>> = {
  failure: 'red',
  warning: 'yellow',
  'not checked': 'yellow',
  ok: 'green',
};

/** The conclusion, what to do, what is in order, and where each alert goes. */
export function chainReport(findings: readonly ChainFinding[], rows: readonly RouteRow[], screen?: Screen): string {
  const verdicts = Object.keys(COLOURS) as ChainFinding['verdict'][];
  const counts = verdicts.map((verdict) => ({
    verdict,
    count: findings.filter((one) => one.verdict === verdict).length,
  }));
  const [failures = 0, warnings = 0, unchecked = 0] = counts.map(({ count }) => count);
  const conclusion = [
    failures > 0 && `broken, ${countText(failures, 'failure')}`,
    warnings > 0 && countText(warnings, 'warning'),
    unchecked > 0 && `${unchecked} not checked`,
  ].filter((part) => part !== false);
  const texts = verdicts.flatMap((verdict) =>
    findings
      .filter((one) => one.verdict === verdict)
      .map(({ what, advice }) => {
        const text = paragraphs(
          [`${verdict}: ${what}`, ...(advice === undefined ? [] : [`  what to do: ${advice}`])],
          screen?.columns,
        );
        return screen?.hasColours ? coloured(verdict, COLOURS[verdict]) + text.slice(verdict.length) : text;
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
