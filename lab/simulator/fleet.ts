import { createHash } from 'node:crypto';
import { between, hash, hashText, pick, type Random, randomFrom } from './random.ts';
import { displayName, gpuModels, gpuSkus, HOUR, type ResourceKind, resourceKinds } from './resource-kinds.ts';

export interface FleetOptions {
  readonly name: string;
  /** Average number of resources. */
  readonly size: number;
  /** The category with three times its usual share. */
  readonly emphasis?: 'compute' | 'storage' | 'network';
}

/** A record as the service sends it, and the properties it filters by without sending them. */
export interface FleetEntry {
  readonly record: {
    readonly resource_type: { readonly key: string; readonly label: string };
    readonly resource_id: string;
    readonly create_time: string;
    readonly sku: string;
    readonly state: string;
    readonly display_name: string;
    readonly alert_rules_count: number;
    readonly name: string;
    readonly gpu_model: string;
  };
  /** '' for none. */
  readonly product: string;
  readonly alertable: boolean;
}

/** The fleets change only at ticks, so that the pages of one listing agree. */
const TICK_MS = 10_000;

/** The average share of occupied slots, and the period in which it changes. */
const MEAN_LOAD = 0.75;
const LOAD_PERIOD_MS = 23 * 24 * HOUR;

/** Holds at most one resource at a time, and from cycle to cycle another one. */
interface Slot {
  readonly kind: ResourceKind;
  readonly number: number;
  readonly key: number;
  readonly cycleMs: number;
  readonly phaseMs: number;
  /** That of the cycle computed last. */
  cycle?: number;
  resource?: SimulatedResource | undefined;
}

interface SimulatedResource extends FleetEntry {
  readonly key: number;
  readonly createdMs: number;
  readonly rules: number;
  readonly rulesFromMs: number;
}

/** The simulated resources of a station, a pure function of seed and time. */
export class SimulatedFleet {
  readonly #key: number;
  readonly #slots: readonly Slot[];
  #latest: { readonly atMs: number; readonly entries: readonly FleetEntry[] } | undefined;

  constructor(seed: number, { name, size, emphasis }: FleetOptions) {
    this.#key = hash(seed, hashText(name));
    // Each kind repeated by its weight, to pick from.
    const kinds = resourceKinds.flatMap((kind) =>
      Array<ResourceKind>((kind.key.startsWith(`resource_type.${emphasis}.`) ? 3 : 1) * kind.weight).fill(kind),
    );
    this.#slots = Array.from({ length: Math.round(size / MEAN_LOAD) }, (_, number) => {
      const key = hash(this.#key, number);
      const random = randomFrom(key);
      const kind = pick(random, kinds);
      const [shortest, longest] = kind.lifetimeMs;
      const cycleMs = shortest * (longest / shortest) ** random();
      return { kind, number, key, cycleMs, phaseMs: random() * cycleMs };
    });
  }

  /** Oldest first. All pages of a listing usually fall into one tick, so that the latest list is kept. */
  at(ms: number): readonly FleetEntry[] {
    const atMs = Math.floor(ms / TICK_MS) * TICK_MS;
    if (this.#latest?.atMs !== atMs) {
      const resources = this.#slots.map((slot) => this.#resource(slot, atMs)).filter((one) => one !== undefined);
      resources.sort((one, other) => one.createdMs - other.createdMs);
      this.#latest = { atMs, entries: resources.map((resource) => entryAt(resource, atMs)) };
    }
    return this.#latest.entries;
  }

  #resource(slot: Slot, atMs: number): SimulatedResource | undefined {
    const cycle = Math.floor((atMs + slot.phaseMs) / slot.cycleMs);
    if (slot.cycle !== cycle) {
      slot.cycle = cycle;
      slot.resource = this.#newResource(slot, cycle);
    }
    return slot.resource;
  }

  /** undefined: the slot is free in this cycle. */
  #newResource(slot: Slot, cycle: number): SimulatedResource | undefined {
    const { kind, cycleMs } = slot;
    const createdMs = Math.ceil(cycle * cycleMs - slot.phaseMs);
    const key = hash(slot.key, cycle);
    const random = randomFrom(key);
    const load = MEAN_LOAD + 0.15 * Math.sin(2 * Math.PI * (createdMs / LOAD_PERIOD_MS + this.#key / 2 ** 32));
    if (random() >= load) return undefined;
    const names = this.#names(slot, cycle, random);
    const hasGpu = random() < (kind.gpuShare ?? 0);
    const { ruleShare, maxRules = 0 } = kind;
    return {
      key,
      createdMs,
      record: {
        resource_type: { key: kind.key, label: kind.label },
        resource_id: names.id,
        create_time: gatewayTimestamp(random, createdMs),
        sku: pick(random, hasGpu ? gpuSkus : kind.skus),
        state: INACTIVE,
        display_name: names.displayName,
        alert_rules_count: 0,
        name: names.name,
        gpu_model: hasGpu ? pick(random, gpuModels) : '',
      },
      product: pick(random, kind.products),
      alertable: ruleShare !== undefined,
      rules: random() < (ruleShare ?? 0) ? between(random, 1, maxRules) : 0,
      rulesFromMs: createdMs + random() * 0.15 * cycleMs,
    };
  }

  /** 32 bits of a key may collide, so ids are not derived from it. */
  #names({ kind, number }: Slot, cycle: number, random: Random) {
    const digest = createHash('sha256').update(`${this.#key} ${number} ${cycle}`).digest('hex');
    return {
      id: digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      name: `${kind.namePrefix}-${digest.slice(0, 12)}`,
      displayName: displayName(random, kind),
    };
  }
}

/** RFC 3339 with 3, 6 or 9 decimals, as a gRPC gateway prints it. */
function gatewayTimestamp(random: Random, ms: number): string {
  const digits = String(between(random, 1_000_000, 1_999_999)).slice(1, pick(random, [1, 4, 7]));
  return `${new Date(ms).toISOString().slice(0, -1)}${digits}Z`;
}

const INACTIVE = 'ALERTSTATE_INACTIVE';

function entryAt(resource: SimulatedResource, atMs: number): FleetEntry {
  const { record, rules, rulesFromMs } = resource;
  if (rules === 0 || atMs < rulesFromMs) return resource;
  return { ...resource, record: { ...record, state: stateAt(resource, atMs), alert_rules_count: rules } };
}

/** At most one alert per hour, once rules exist: pending, then firing or resolved. Times are in hours. */
function stateAt({ key, rulesFromMs }: SimulatedResource, atMs: number): string {
  const time = (atMs + (key % HOUR)) / HOUR;
  const random = randomFrom(hash(key, Math.floor(time)));
  if (random() >= 0.14) return INACTIVE;
  const since = (time % 1) - 0.4 * random();
  const pending = 0.1 + 0.2 * random();
  const firing = random() < 0.4 ? 0.3 * random() : 0;
  if (since < 0 || since >= pending + firing || atMs - since * HOUR < rulesFromMs) return INACTIVE;
  return since < pending ? 'ALERTSTATE_PENDING' : 'ALERTSTATE_FIRING';
}
