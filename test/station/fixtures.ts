import type { Clock } from '../../src/station/clock.ts';
import { type Listing, READ_FIELDS, type ReadField } from '../../src/station/listing.ts';
import type { Resource, ResourceRecord } from '../../src/station/resource.ts';
import type { Snapshot } from '../../src/station/snapshot.ts';
import type { StationSpec } from '../../src/station/spec.ts';

export function specOf(changes: Partial<StationSpec> = {}): StationSpec {
  return {
    name: 'prod',
    upstream: 'main',
    path: { subscription: 'sub', resourceGroup: 'rg', zone: 'z1', telemetryStation: 'ts' },
    filters: {},
    products: [],
    alertability: false,
    cache: { ttlMs: 60_000, maxStaleMs: 900_000, errorTtlMs: 10_000, refresh: 'scrape' },
    refreshTimeoutMs: 120_000,
    labels: {},
    ...changes,
  };
}

export function recordOf(id: string, changes: Partial<ResourceRecord> = {}): ResourceRecord {
  return {
    id,
    name: `name-${id}`,
    displayName: `Display ${id}`,
    type: 'type.a',
    typeLabel: 'Type A',
    state: 'INACTIVE',
    sku: '',
    quantity: undefined,
    gpuModel: '',
    alertRules: 1,
    createdSeconds: 1_700_000_000,
    ...changes,
  };
}

export function resourceOf(id: string, changes: Partial<Resource> = {}): Resource {
  return { ...recordOf(id), product: '', alertable: undefined, ...changes };
}

const noInvalidFields = Object.fromEntries(READ_FIELDS.map((field) => [field, 0])) as Record<ReadField, number>;

export function listingOf(records: readonly ResourceRecord[], changes: Partial<Listing> = {}): Listing {
  return {
    records: new Map(records.map((record) => [record.id, record])),
    complete: true,
    reportedTotal: records.length,
    pages: 1,
    duplicates: 0,
    rejected: 0,
    invalidFields: noInvalidFields,
    ...changes,
  };
}

export function snapshotOf(resources: readonly Resource[], changes: Partial<Snapshot> = {}): Snapshot {
  const { records, ...listing } = listingOf(resources);
  return { ...listing, resources: new Map(resources.map((resource) => [resource.id, resource])), ...changes };
}

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #ms = 0;
  readonly wallMs = () => 1_700_000_000_000 + this.#ms;
  readonly elapsedMs = () => this.#ms;

  advance(ms: number): void {
    this.#ms += ms;
  }
}
