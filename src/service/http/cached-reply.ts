import type { CachedReply } from '../../model/listing.ts';
import { safeExcerpt } from '../redaction.ts';
import type { Reply } from '../request-failure.ts';

/** `X-Cache`, `CF-Cache-Status`, `Cache-Status` and their relatives. */
const STATUS_HEADER = /(^|-)cache(-status)?$/;

/** As a word, also in `TCP_HIT`; `Cache-Status: nginx; fwd=stale` is no hit. */
const FROM_CACHE = /(^|[^a-z=])(hit|stale|updating)(?![a-z])/i;

/** A cache that claims more is wrong, but its replies are old by every measure. */
const MAX_AGE_SECONDS = 365 * 24 * 3600;

/** What the headers say of a reply that comes from a cache; undefined: from the service, as far as they say. */
export function cachedReply(headers: Reply['headers'], secrets: readonly string[]): CachedReply | undefined {
  const seconds = ageSeconds(headers['age']);
  const ageMs = seconds === undefined ? undefined : 1000 * seconds;
  if (seconds) return { ageMs, header: `Age: ${seconds} s` };
  const status = Object.entries(headers).find(
    ([name, value]) => STATUS_HEADER.test(name) && FROM_CACHE.test(String(value)),
  );
  if (status === undefined) return undefined;
  const [name, value] = status;
  const age = ageMs === undefined ? '' : 'Age: 0 s, ';
  return { ageMs, header: `${age}${titleCase(name)}: ${safeExcerpt(String(value), secrets)}` };
}

/** The largest number of seconds: a cache may add its header to that of another one. What is not a number of seconds says nothing. */
function ageSeconds(header: string | readonly string[] | undefined): number | undefined {
  const values = String(header)
    .split(',')
    .flatMap((value) => (/^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : []));
  return values.length === 0 ? undefined : Math.min(MAX_AGE_SECONDS, Math.max(...values));
}

function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
