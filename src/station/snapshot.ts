import type { Listing, ListingContext, ListingFilters, Part, StationSource } from './listing.ts';
import { Membership } from './membership.ts';
import type { Resource } from './resource.ts';
import type { StationSpec } from './spec.ts';

/** A station's resources as they were once; never changed, only replaced. Parts that did not change are those of the snapshot before. */
export type Snapshot = Listing<Resource>;

/** Takes one snapshot after the other, and keeps of each what makes the next one cheap. */
export class Surveyor {
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
  async survey(context: ListingContext): Promise<Snapshot> {
    const { path, filters, products, alertability } = this.#spec;
    const query = (further: ListingFilters) => ({ path, filters: { ...filters, ...further } });
    // A station that lists alertable resources alone needs no second listing to know them.
    const asksAlertable = alertability && filters.enabledAlert !== true;
    const [main, alertable, ...byProduct] = await Promise.all([
      this.#source.resources(query({}), context),
      asksAlertable ? this.#source.ids(query({ enabledAlert: true }), context) : undefined,
      ...products.map((product) => this.#source.ids(query({ product }), context)),
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
      doubts: [
        ...main.doubts,
        ...further.flatMap(({ name, listing }) => listing.doubts.map((doubt) => `in the listing of ${name}, ${doubt}`)),
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
function factsOf({ parts, origins, ...facts }: Snapshot): object {
  return facts;
}
