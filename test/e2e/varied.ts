import type { SourceEntry } from '../../src/simulator/listing-reply.ts';
import { wireRecord } from './harness.ts';

const pick = (choices: readonly unknown[], index: number) => choices[index % choices.length];

/** Entries that differ in every way that a family can tell apart. */
export function variedEntries(count: number): (SourceEntry & { readonly record: ReturnType<typeof wireRecord> })[] {
  return Array.from({ length: count }, (_, index) => ({
    record: wireRecord(`r${index}`, {
      resource_type: { key: `resource_type.kind.${index % 3}`, label: `Kind ${index % 3}` },
      create_time: `2024-05-01T12:00:${String(index % 60).padStart(2, '0')}.500Z`,
      sku: pick(['2 GPU', '1.5 TiB', 'large', ''], index),
      state: pick(['ALERTSTATE_INACTIVE', 'ALERTSTATE_FIRING'], index),
      alert_rules_count: index % 4,
      gpu_model: pick(['N4lS', ''], index),
    }),
    product: `product.${index % 2 === 0 ? 'even' : 'odd'}`,
    alertable: index % 5 !== 0,
  }));
}

export const recordsOf = (entries: readonly SourceEntry[]): unknown[] => entries.map(({ record }) => record);
