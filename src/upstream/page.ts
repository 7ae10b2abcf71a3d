import { ListingFailure } from '../station/failure.ts';
import { isObject, type ReadRecord, readRecord, wholeNumber } from './record.ts';

/** One reply, read. */
export interface Page {
  /** How many records came, usable or not: what the offset advances by. */
  readonly received: number;
  readonly records: readonly ReadRecord[];
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Throws a ListingFailure of reason `body` for anything but the envelope; a strange record in it is only counted. */
export function readPage(body: Uint8Array): Page {
  const envelope = parse(body);
  if (!isObject(envelope)) throw new ListingFailure('body', `expected a JSON object, got ${kind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources')) throw new ListingFailure('body', 'expected a field "resources", there is none');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources)) throw new ListingFailure('body', `expected "resources" to be a list, got ${kind(resources)}`);
  const records = resources.map(readRecord).filter((record) => record !== undefined);
  return { received: resources.length, records, ...readTotal(envelope['page']) };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    throw new ListingFailure('body', `expected JSON, got ${body.byteLength} bytes that are none`, { cause });
  }
}

function readTotal(page: unknown): Pick<Page, 'total' | 'totalInvalid'> {
  const given = isObject(page) ? page['total'] : undefined;
  if (given === undefined || given === null) return { total: undefined, totalInvalid: false };
  const total = wholeNumber(given);
  return typeof total === 'number' ? { total, totalInvalid: false } : { total: undefined, totalInvalid: true };
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
