import { FAILURE_REASONS, NOT_TRIED_REASON } from '../../src/model/failure.ts';
import { generalAdvice } from '../../src/problems/advice.ts';

const START = '<!-- Generated from src/problems/failure-rules.ts by `npm run generate`; do not edit. -->';
const END = '<!-- End of generated table. -->';

const NOT_TRIED_MEANING = 'No refresh has ended since the exporter started or the station was added.';
const NOT_TRIED_ADVICE =
  'Wait for the first refresh. If there is none for minutes, the upstream has more work than capacity: the status page shows for how long refreshes wait.';

/** Replaces the generated table of failure reasons in the page. */
export function withFailureTable(page: string): string {
  const [before, rest = ''] = page.split(START);
  const [, after = ''] = rest.split(END);
  return `${before}${START}\n\n${failureTable()}\n\n${END}${after}`;
}

function failureTable(): string {
  const rows = FAILURE_REASONS.map((reason) => {
    const { meaning, advice } = generalAdvice(reason);
    return `| \`${reason}\` | ${meaning} | ${advice} |`;
  });
  const notTried = `| \`${NOT_TRIED_REASON}\` | ${NOT_TRIED_MEANING} | ${NOT_TRIED_ADVICE} |`;
  return ['| reason | meaning | resolution |', '|---|---|---|', notTried, ...rows].join('\n');
}
