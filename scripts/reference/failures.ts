import { FAILURE_ADVICE, FAILURE_REASONS } from '../../src/model/failure.ts';

const START = '<!-- Generated from src/model/failure.ts by `npm run generate`; do not edit. -->';
const END = '<!-- End of generated table. -->';

/** Replaces the generated table of failure reasons in the page. */
export function withFailureTable(page: string): string {
  const [before, rest = ''] = page.split(START);
  const [, after = ''] = rest.split(END);
  return `${before}${START}\n\n${failureTable()}\n\n${END}${after}`;
}

function failureTable(): string {
  const rows = FAILURE_REASONS.map(
    (reason) => `| \`${reason}\` | ${FAILURE_ADVICE[reason].meaning} | ${FAILURE_ADVICE[reason].advice} |`,
  );
  return ['| reason | meaning | resolution |', '|---|---|---|', ...rows].join('\n');
}
