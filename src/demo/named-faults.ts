import type { Fault } from './faults.ts';

/** Faults by names that can be typed. */
export const NAMED_FAULTS = {
  rate_limited: { kind: 'status', code: 429 },
  unauthorized: { kind: 'status', code: 401 },
  forbidden: { kind: 'status', code: 403 },
  not_found: { kind: 'status', code: 404 },
  server_error: { kind: 'status', code: 500 },
  unavailable: { kind: 'status', code: 503 },
  slow: { kind: 'latency', ms: [2000, 6000] },
  hang: { kind: 'hang' },
  drip: { kind: 'drip' },
  reset: { kind: 'reset' },
  truncated: { kind: 'truncate' },
  endless: { kind: 'endless' },
  html: { kind: 'html' },
  not_json: { kind: 'notJson' },
  null_page: { kind: 'nullPage' },
  missing_page: { kind: 'missingPage' },
  text_numbers: { kind: 'textNumbers' },
  short_pages: { kind: 'randomCap' },
  ignored_offset: { kind: 'ignoreOffset' },
  ignored_size: { kind: 'ignoreSize' },
  moving_total: { kind: 'totalMoves' },
  wrong_total: { kind: 'totalLies', delta: 1 },
  unreadable_total: { kind: 'totalIs', total: 'many' },
  duplicates: { kind: 'duplicate', every: 10, counted: true },
  missing_ids: { kind: 'missingIds', every: 100 },
  numeric_state: { kind: 'numericState', state: 7 },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof NAMED_FAULTS;

/** The fault with this share of the requests, chosen by the seed. */
export function namedFault(name: FaultName, share: number): Fault {
  return { ...NAMED_FAULTS[name], when: { share } };
}
