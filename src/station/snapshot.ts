import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from './clock.ts';
import { ListingFailure } from './failure.ts';
import type { Listing, ListingContext, ListingFilters, Part, StationSource } from './listing.ts';
import type { Resource } from './resource.ts';
import type { StationSpec } from './station-spec.ts';

/** A station's resources as they were once; never changed, only replaced. Parts that did not change are those of the snapshot before. */
export type Snapshot = Listing<Resource>;

/** Takes one snapshot after the other, and keeps of each what makes the next one cheap. */
export class SnapshotReader {
  readonly #spec: StationSpec;
  readonly #source: StationSource;
  readonly #alertable = new Membership();
  readonly #products: readonly Membership[];
  /** The parts as joined last time, by the parts as listed. */
  #joined = new Map<Part<Resource>, Part<Resource>>();
  #latest: Snapshot | undefined;

  constructor(spec: StationSpec, source: StationSource) {
    this.#spec = spec;
    this.#source = source;
    this.#products = spec.products.map(() => new Membership());
  }

  /** Lists the station, its products and its alertable resources side by side, and joins them by id; the same snapshot again if nothing changed. */
  async read(context: ListingContext): Promise<Snapshot> {
    const { path, filters, products, alertability } = this.#spec;
    const query = (further: ListingFilters) => ({ path, filters: { ...filters, ...further } });
    // A station that lists alertable resources alone needs no second listing to know them.
    const asksAlertable = alertability && filters.enabledAlert !== true;
    const [main, alertable, ...byProduct] = await Promise.all([
      this.#source.listResources(query({}), context),
      asksAlertable ? this.#source.listIds(query({ enabledAlert: true }), context) : undefined,
      ...products.map((product) => this.#source.listIds(query({ product }), context)),
    ]);
    const further = [
      ...(alertable ? [{ name: 'alertable resources', listing: alertable }] : []),
      ...byProduct.map((listing, at) => ({ name: `product ${products[at]}`, listing })),
    ];
    const parts = this.#join(main.parts, alertable, byProduct);
    const snapshot = {
      ...main,
      parts,
      complete: main.complete && further.every(({ listing }) => listing.complete),
      incompleteReasons: [
        ...main.incompleteReasons,
        ...further.flatMap(({ name, listing }) => listing.incompleteReasons.map((doubt) => `in the listing of ${name}, ${doubt}`)),
      ],
      pages: further.reduce((sum, { listing }) => sum + listing.pages, main.pages),
    };
    if (!this.#latest || !isSame(this.#latest, snapshot)) this.#latest = snapshot;
    return this.#latest;
  }

  #join(
    parts: readonly Part<Resource>[],
    alertable: Listing<string> | undefined,
    byProduct: readonly Listing<string>[],
  ): readonly Part<Resource>[] {
    const { alertability, products } = this.#spec;
    if (!alertability && products.length === 0) return parts;
    const changed = [
      alertable !== undefined && this.#alertable.update(alertable),
      ...byProduct.map((listing, index) => this.#products[index]?.update(listing)),
    ].includes(true);
    const joined = new Map<Part<Resource>, Part<Resource>>();
    for (const part of parts) {
      const before = this.#joined.get(part);
      joined.set(
        part,
        before && (!changed || before.every((resource) => this.#isTrue(resource))) ? before : part.map((r) => this.#told(r)),
      );
    }
    this.#joined = joined;
    return [...joined.values()];
  }

  #told(resource: Resource): Resource {
    return { ...resource, product: this.#productOf(resource.id), alertable: this.#isAlertable(resource.id) };
  }

  #isTrue({ id, product, alertable }: Resource): boolean {
    return product === this.#productOf(id) && alertable === this.#isAlertable(id);
  }

  #productOf(id: string): string {
    return this.#spec.products[this.#products.findIndex((product) => product.has(id))] ?? '';
  }

  /** Only a listing that is proven whole can say of a resource which it lacks that it cannot have alerts. */
  #isAlertable(id: string): boolean | undefined {
    const { alertability, filters } = this.#spec;
    if (!alertability) return undefined;
    if (filters.enabledAlert === true || this.#alertable.has(id)) return true;
    return this.#alertable.complete ? false : undefined;
  }
}

function isSame(a: Snapshot, b: Snapshot): boolean {
  return (
    a.parts.length === b.parts.length &&
    a.parts.every((part, index) => part === b.parts[index]) &&
    JSON.stringify(factsOf(a)) === JSON.stringify(factsOf(b))
  );
}

/** All that is told beside the parts; where those come from goes with them. */
function factsOf({ parts, locations: origins, ...facts }: Snapshot): object {
  return facts;
}

/** One survey within the time that the station has for it; rejects with the signal's reason when that aborts first. */
export async function takeSnapshot(
  reader: SnapshotReader,
  { name, refreshTimeoutMs }: Pick<StationSpec, 'name' | 'refreshTimeoutMs'>,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<Snapshot> {
  const controller = new AbortController();
  // Every request under way listens to it: many, but never forgotten.
  setMaxListeners(0, controller.signal);
  const abort = () => controller.abort(signal.reason);
  const giveUp = () => controller.abort(new ListingFailure('timeout', `the refresh did not end within ${refreshTimeoutMs / 1000} s`));
  const timer = setTimeout(giveUp, refreshTimeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await reader.read({ signal: controller.signal, deadlineMs: clock.wallMs() + refreshTimeoutMs, station: name });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    // One listing has failed: the others under way have nothing left to serve.
    controller.abort();
  }
}

/** The ids that the latest of several listings held. */
export class Membership {
  #parts: readonly Part<string>[] = [];
  #ids: ReadonlySet<string> = new Set();
  #complete = false;

  /** Whether the listing tells of any id something else than the one before. */
  update({ parts, complete }: Listing<string>): boolean {
    const isSame =
      complete === this.#complete && parts.length === this.#parts.length && parts.every((part, at) => part === this.#parts[at]);
    if (isSame) return false;
    this.#parts = parts;
    this.#complete = complete;
    this.#ids = new Set(parts.flat());
    return true;
  }

  get complete(): boolean {
    return this.#complete;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
