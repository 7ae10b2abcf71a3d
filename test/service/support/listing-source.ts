import type { StationPath } from '../../../src/model/listing.ts';
import { StateMeanings } from '../../../src/resources/alert-state.ts';
import { InternedTexts } from '../../../src/resources/interned-texts.ts';
import { ID_LISTING, resourceListing } from '../../../src/resources/listings.ts';
import type { PageBody } from '../../../src/service/http/content-coding.ts';
import { RequestFailure } from '../../../src/service/request-failure.ts';
import type { ListingObserver } from '../../../src/service/request-observer.ts';
import { stationSource } from '../../../src/service/station-source.ts';
import type { RecordBudget } from '../../../src/stations/record-budget.ts';
import { SerialQueue } from '../../../src/tasks/serial-queue.ts';

export interface PageRequest {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  readonly nth: number;
}

export type Reply = { readonly resources: unknown; readonly page?: unknown };
export type Answer = (request: PageRequest) => Reply | string | Uint8Array;

const path = { subscription: 's', resource_group: 'g', zone: 'z', telemetry_station: 't' };

export interface Setting {
  readonly station?: StationPath;
  readonly pageSize?: number;
  readonly concurrency?: number;
  readonly listStyle?: 'repeat' | 'comma';
  readonly baseUrl?: URL;
  readonly observer?: Partial<ListingObserver>;
  readonly records?: RecordBudget;
  /** The largest page that the service accepts, by the number of the request. */
  readonly largest?: (nth: number) => number;
  /** Whether the service says that a page is too large, and does not only throttle it. */
  readonly isTooLarge?: boolean;
}

/** Lists of a service that is given as a function from requests to replies. */
export function sourceOf(
  answer: Answer,
  { station = path, observer = {}, records, largest = () => 1e9, isTooLarge = true, ...setting }: Setting = {},
) {
  const requests: PageRequest[] = [];
  const underWay = { now: 0, most: 0 };
  const unpacked = { count: 0 };
  const bodyOf = (bytes: Uint8Array): PageBody => ({
    bytes,
    plain: async () => {
      unpacked.count += 1;
      return bytes;
    },
  });
  const get = async <T>(
    first: string,
    _context: unknown,
    read: (body: PageBody) => T | Promise<T>,
    smaller: (isTooLarge: boolean) => string | undefined = () => undefined,
  ) => {
    for (let next: string | undefined = first; next !== undefined; next = smaller(isTooLarge)) {
      const parameters = new URLSearchParams(next.slice(next.indexOf('?')));
      const [offset, size] = [Number(parameters.get('page.offset')), Number(parameters.get('page.size'))];
      const request = { path: next, offset, size, nth: requests.length };
      requests.push(request);
      underWay.now += 1;
      underWay.most = Math.max(underWay.most, underWay.now);
      await new Promise(setImmediate);
      underWay.now -= 1;
      if (size > largest(request.nth)) continue;
      const reply = answer(request);
      if (reply instanceof Uint8Array) return read(bodyOf(reply));
      return read(bodyOf(Buffer.from(typeof reply === 'string' ? reply : JSON.stringify(reply))));
    }
    throw new RequestFailure('status', 'too large', { status: 413 });
  };
  const baseUrl = new URL('http://service.test');
  const options = { baseUrl, listStyle: 'repeat', pageSize: 10, concurrency: 4, ...setting } as const;
  const shared = { replies: new SerialQueue(), reducedPageSizes: new Map() };
  const source = stationSource(station, { client: { get }, options, observer, records, ...shared });
  const context = { texts: new InternedTexts(), states: new StateMeanings() };
  const lists = { list: source.lister(resourceListing(context)), listIds: source.lister(ID_LISTING) };
  return { ...lists, source, requests, underWay, unpacked };
}
