import { displayName, gpuOutfit, type ResourceKind } from './catalogue.ts';
import { between, hash, pick, type Random, randomFrom } from './random.ts';
import type { Life } from './world.ts';

/** A record as the service sends it. */
export interface WireResource {
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

/** What stays the same for a resource's whole life. */
export interface Birth {
  readonly life: Life;
  readonly record: Omit<WireResource, 'state' | 'alert_rules_count'>;
  readonly product: string;
  readonly alertable: boolean;
  readonly rules: number;
  readonly rulesFromMs: number;
}

/** The resource that a life makes. */
export function birth(kind: ResourceKind, life: Life): Birth {
  const random = randomFrom(life.key);
  const outfit = random() < kind.gpuShare ? gpuOutfit(random) : { sku: pick(random, kind.skus), gpuModel: '' };
  const id = identity(life);
  const alertable = random() < kind.alertableShare;
  const covered = alertable && random() < kind.coveredShare;
  return {
    life,
    record: {
      resource_type: { key: kind.key, label: kind.label },
      resource_id: `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`,
      create_time: timestamp(random, life.fromMs),
      sku: outfit.sku,
      display_name: displayName(random),
      name: `${kind.namePrefix}-${id.slice(0, 12)}`,
      gpu_model: outfit.gpuModel,
    },
    product: pick(random, kind.products),
    alertable,
    rules: covered ? between(random, 1, kind.mostRules) : 0,
    rulesFromMs: life.fromMs + random() * 0.15 * (life.untilMs - life.fromMs),
  };
}

/** The record at a time of the resource's life. */
export function recordAt(born: Birth, atMs: number): WireResource {
  const rules = atMs < born.rulesFromMs ? 0 : born.rules;
  const { resource_type, resource_id, create_time, sku, display_name, name, gpu_model } = born.record;
  const state = rules === 0 ? 'ALERTSTATE_INACTIVE' : stateAt(born, atMs);
  return { resource_type, resource_id, create_time, sku, state, display_name, alert_rules_count: rules, name, gpu_model };
}

/** 128 bits of hash over what tells lives apart, so that no two resources of any fleet meet. */
function identity({ place, generation }: Life): string {
  const bytes = Buffer.allocUnsafe(16);
  for (let at = 0; at < 16; at += 4) bytes.writeUInt32BE(hash(at, place.station, place.slot, generation), at);
  return bytes.toString('hex');
}

/** RFC 3339 with 3, 6 or 9 decimals, as a gRPC gateway prints it. */
function timestamp(random: Random, ms: number): string {
  const finer = String(between(random, 1_000_000, 1_999_999)).slice(1, pick(random, [1, 4, 7]));
  return `${new Date(ms).toISOString().slice(0, -1)}${finer}Z`;
}

const WATCH_MS = 3_600_000;

/** Each hour may hold one alert, of a rule that was there before: it pends, and then fires for a while or goes away. */
function stateAt({ life: { key }, rulesFromMs }: Birth, atMs: number): string {
  const shiftedMs = atMs + (key % WATCH_MS);
  const watch = Math.floor(shiftedMs / WATCH_MS);
  const random = randomFrom(hash(key, watch));
  if (random() >= 0.14) return 'ALERTSTATE_INACTIVE';
  const sinceMs = shiftedMs - (watch + 0.4 * random()) * WATCH_MS;
  const pendingMs = (0.1 + 0.2 * random()) * WATCH_MS;
  const firingMs = random() < 0.4 ? 0.3 * WATCH_MS * random() : 0;
  if (sinceMs < 0 || atMs - sinceMs < rulesFromMs || sinceMs >= pendingMs + firingMs) return 'ALERTSTATE_INACTIVE';
  return sinceMs < pendingMs ? 'ALERTSTATE_PENDING' : 'ALERTSTATE_FIRING';
}
