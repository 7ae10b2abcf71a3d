import { between, hash, pick, type Random, randomFrom } from './random.ts';
import { displayName, gpuFields, type ResourceKind } from './resource-kinds.ts';

/** A record as the service sends it. */
export interface WireRecord {
  readonly resource_type: { readonly key: string; readonly label: string };
  readonly resource_id: string;
  readonly create_time: string;
  readonly sku: string;
  readonly state: string;
  readonly display_name: string;
  readonly alert_rules_count: number;
  readonly name: string;
  readonly gpu_model: string;
}

/** Holds at most one resource of a station at a time. */
export interface Slot {
  readonly station: number;
  readonly index: number;
}

/** The lifetime of one resource. */
export interface Lifetime {
  readonly slot: Slot;
  /** The number of the slot's cycle. */
  readonly cycle: number;
  /** Seed of the resource's attributes. 32 bits may collide, so ids are not derived from it. */
  readonly key: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The attributes that stay constant over a resource's lifetime. */
export interface SimulatedResource {
  readonly lifetime: Lifetime;
  readonly record: Omit<WireRecord, 'state' | 'alert_rules_count'>;
  readonly product: string;
  readonly alertable: boolean;
  readonly rules: number;
  readonly rulesFromMs: number;
}

export const NAMINGS = ['random', 'sequential'] as const;

/** How resources are named: at random, or numbered, so that an exposition compresses extremely well. */
export type Naming = (typeof NAMINGS)[number];

export function createResource(kind: ResourceKind, lifetime: Lifetime, naming: Naming = 'random'): SimulatedResource {
  const random = randomFrom(lifetime.key);
  const hardware = random() < kind.gpuShare ? gpuFields(random) : { sku: pick(random, kind.skus), gpuModel: '' };
  const alertable = random() < kind.alertableShare;
  const hasRules = alertable && random() < kind.ruleShare;
  return {
    lifetime,
    record: {
      resource_type: { key: kind.key, label: kind.label },
      create_time: timestamp(random, lifetime.fromMs),
      sku: hardware.sku,
      gpu_model: hardware.gpuModel,
      display_name: displayName(random),
      ...(naming === 'random' ? randomNames(kind, lifetime) : sequentialNames(lifetime)),
    },
    product: pick(random, kind.products),
    alertable,
    rules: hasRules ? between(random, 1, kind.maxRules) : 0,
    rulesFromMs: lifetime.fromMs + random() * 0.15 * (lifetime.untilMs - lifetime.fromMs),
  };
}

/** The record as sent at a time within the lifetime. */
export function recordAt(resource: SimulatedResource, atMs: number): WireRecord {
  const rules = atMs < resource.rulesFromMs ? 0 : resource.rules;
  const { resource_type, resource_id, create_time, sku, display_name, name, gpu_model } = resource.record;
  const state = rules === 0 ? 'ALERTSTATE_INACTIVE' : stateAt(resource, atMs);
  return {
    resource_type,
    resource_id,
    create_time,
    sku,
    state,
    display_name,
    alert_rules_count: rules,
    name,
    gpu_model,
  };
}

type Names = Pick<WireRecord, 'resource_id' | 'name'>;

function randomNames({ namePrefix }: ResourceKind, lifetime: Lifetime): Names {
  const id = uniqueId(lifetime);
  const resourceId = `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;
  return { resource_id: resourceId, name: `${namePrefix}-${id.slice(0, 12)}` };
}

/** The resources that occupy a slot one after another share its number. */
function sequentialNames({ slot }: Lifetime): Names & Pick<WireRecord, 'display_name'> {
  const name = `web-${String(slot.index).padStart(6, '0')}`;
  return { resource_id: name, name, display_name: name };
}

/** A 128-bit hash of slot and cycle, unique across all fleets. */
function uniqueId({ slot, cycle }: Lifetime): string {
  const bytes = Buffer.allocUnsafe(16);
  for (let at = 0; at < 16; at += 4) bytes.writeUInt32BE(hash(at, slot.station, slot.index, cycle), at);
  return bytes.toString('hex');
}

/** RFC 3339 with 3, 6 or 9 decimals, as a gRPC gateway prints it. */
function timestamp(random: Random, ms: number): string {
  const digits = String(between(random, 1_000_000, 1_999_999)).slice(1, pick(random, [1, 4, 7]));
  return `${new Date(ms).toISOString().slice(0, -1)}${digits}Z`;
}

const ALERT_WINDOW_MS = 3_600_000;

/** At most one alert per hour, once rules exist: pending, then firing or resolved. */
function stateAt({ lifetime: { key }, rulesFromMs }: SimulatedResource, atMs: number): string {
  const shiftedMs = atMs + (key % ALERT_WINDOW_MS);
  const window = Math.floor(shiftedMs / ALERT_WINDOW_MS);
  const random = randomFrom(hash(key, window));
  if (random() >= 0.14) return 'ALERTSTATE_INACTIVE';
  const sinceMs = shiftedMs - (window + 0.4 * random()) * ALERT_WINDOW_MS;
  const pendingMs = (0.1 + 0.2 * random()) * ALERT_WINDOW_MS;
  const firingMs = random() < 0.4 ? 0.3 * ALERT_WINDOW_MS * random() : 0;
  if (sinceMs < 0 || atMs - sinceMs < rulesFromMs || sinceMs >= pendingMs + firingMs) return 'ALERTSTATE_INACTIVE';
  return sinceMs < pendingMs ? 'ALERTSTATE_PENDING' : 'ALERTSTATE_FIRING';
}
