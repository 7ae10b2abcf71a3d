import { getBuiltinModule } from 'node:process';
import { clockDifferenceText } from '../model/clock.ts';
import type { Failure, FailureReason } from '../model/failure.ts';
import type { IncompleteReason } from '../model/listing.ts';
import { type Advice, type Circumstances, ERROR_STATUS, RULES, type Rule, TOKEN_RULES } from './failure-rules.ts';

// Not an import, which reads every export of node:http, and with it loads the WebSocket and fetch of Node 22 and later.
const { STATUS_CODES } = getBuiltinModule('node:http');

/** The explanation of the first rule that applies. */
export function explain(failure: Failure, circumstances: Circumstances = {}): Advice {
  const { codes = [], status, tokenRequest } = failure;
  const reason = tokenRequest?.reason ?? failure.reason;
  const rules: readonly Rule[] = tokenRequest ? [...TOKEN_RULES, ...RULES[reason]] : RULES[reason];
  const reply = replyIn(failure.message);
  const rule = rules.find(
    ({ code, replyPattern, when }) =>
      (replyPattern === undefined || replyPattern.test(reply)) &&
      (code === undefined || codes.some((candidate) => code.test(candidate))) &&
      (when === undefined || when({ ...circumstances, failure })),
  );
  const { short, meaning, advice } = { ...generalRule(reason), ...rule };
  const shown = short === ERROR_STATUS && status !== undefined ? statusText(status) : short;
  const words = wordsOf(failure, circumstances);
  return {
    short: tokenRequest ? `token endpoint: ${shown}` : shown,
    meaning: filled(meaning, words),
    advice: filled(advice, words),
  };
}

/** What the other side said: the text before it has the name of its host, which may contain any word. */
function replyIn(message: string): string {
  const [, reply = message] = / answered \d+[^:]*: (.*)/s.exec(message) ?? [];
  return reply;
}

/** What a reason means whatever its cause is. */
export function generalAdvice(reason: FailureReason): Advice {
  const { short, meaning, advice } = generalRule(reason);
  return { short, meaning: filled(meaning, GENERAL_WORDS), advice: filled(advice, GENERAL_WORDS) };
}

/** The status with its reason phrase, if it has one. */
function statusText(status: number): string {
  return [status, STATUS_CODES[status]].join(' ').trim();
}

export function isoDate(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

const INCOMPLETE_ADVICE: Readonly<Record<IncompleteReason, string>> = {
  rejected_records:
    'Report the records to the operators of the service: the table “Rejected records” of the station has their positions and names.',
  total_mismatch:
    'Compare with the console of the service: the account may not see all resources. If the difference changes, resources are added and removed meanwhile: raise concurrency.',
  paging:
    'Raise page_size, so that fewer pages have to fit together; if that does not help, report it to the operators of the service.',
  further_listing:
    'The labels product and alertable of some resources may be wrong. Report it to the operators of the service if it persists.',
};

/** What to do about a listing that is not verified complete. */
export function incompleteAdvice(reason: IncompleteReason, pageLimit?: number): string {
  return reason === 'paging' && pageLimit !== undefined
    ? `Report it to the operators of the service, which ${pageLimitText(pageLimit)}.`
    : INCOMPLETE_ADVICE[reason];
}

/** `returns at most 50 per page`: a larger `page_size` is of no use. */
export function pageLimitText(pageLimit: number): string {
  return `returns at most ${pageLimit} per page`;
}

/** In the texts of rules, a name in braces stands for one of these words. */
type Words = typeof GENERAL_WORDS;

function filled(text: string, words: Words): string {
  return text
    .replace(/(?<=^|\. )\{(\w+)\}/g, (_, name: keyof Words) => words[name].replace(/^the /, 'The '))
    .replace(/\{(\w+)\}/g, (_, name: keyof Words) => words[name]);
}

/** Words for a failure whose upstream is not known. */
const GENERAL_WORDS = {
  /** Who was requested. */
  service: 'the service',
  /** Who failed: that one, or the proxy before it. */
  host: 'the service',
  /** Where the configuration names that one. */
  key: 'base_url',
  tlsVersions: 'those that min_version allows',
  credentials: 'the credentials',
  rejected:
    'Update the credentials in the configuration or in the file it names; credential files are reread automatically. With hmac, check the clock too; with oauth2, check oauth2.token_url.',
  unobtainable:
    'Check that the credential file exists, is not empty and is readable by the exporter; it is reread automatically.',
  clockDifference: '',
  status: '',
};

function wordsOf({ clockDifferenceMs = 0, status, tokenRequest, proxy }: Failure, { access }: Circumstances): Words {
  const token = tokenRequest && `the token endpoint ${tokenRequest.host}`;
  const service = token ?? access?.service ?? GENERAL_WORDS.service;
  const key = token ? 'oauth2.token_url' : GENERAL_WORDS.key;
  return {
    ...GENERAL_WORDS,
    ...access?.words,
    ...(access && { tlsVersions: access.tlsVersions }),
    service,
    ...(proxy === undefined ? { host: service, key } : { host: `the proxy ${proxy}`, key: 'proxy_url' }),
    clockDifference: clockDifferenceText(clockDifferenceMs),
    status: `${status}`,
  };
}

function generalRule(reason: FailureReason): Rule & Advice {
  return RULES[reason].at(-1) as Rule & Advice;
}
