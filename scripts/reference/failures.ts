import { FAILURE_ADVICE, FAILURE_REASONS } from '../../src/station/failure.ts';

const START = '<!-- Generated from src/station/failure.ts by `npm run generate`; do not edit. -->';
const END = '<!-- End of what is generated. -->';

/** The page with the table of failure reasons as it is now between its marks. */
export function withFailureTable(page: string): string {
  const [before, rest = ''] = page.split(START);
  const [, after = ''] = rest.split(END);
  return `${before}${START}\n\n${failureTable()}\n\n${END}${after}`;
}

function failureTable(): string {
  const rows = FAILURE_REASONS.map((reason) => `| \`${reason}\` | ${FAILURE_ADVICE[reason].meaning} | ${FAILURE_ADVICE[reason].advice} |`);
  return ['| reason | what it means | what to do |', '|---|---|---|', ...rows].join('\n');
}
