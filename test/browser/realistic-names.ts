import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { wireRecord } from '../e2e/test-bed.ts';

const KINDS = [
  { key: 'resource_type.network.slb.v1.loadBalancer', label: 'Load balancer', skus: ['Standard', '5000 connections'] },
  { key: 'resource_type.compute.aec2.v1.instance', label: 'AEC2 instance', skus: ['8 GPU', '16 vCPU'] },
  {
    key: 'resource_type.storage.aoss.v1.bucket',
    label: 'Object storage bucket',
    skus: ['Standard', 'Infrequent Access'],
  },
  { key: 'resource_type.database.rds.v1.databaseInstance', label: 'Relational database', skus: ['2048 GiB'] },
];

export const TEAMS = ['payments', 'checkout', 'platform-engineering', 'recommendation', 'search'];

const ROLES = ['api-gateway', 'frontend', 'settlement-worker', 'ledger', 'fraud-detection', 'image-resizer'];

const STATES = ['ALERTSTATE_INACTIVE', 'ALERTSTATE_FIRING', 'ALERTSTATE_PENDING', 'ALERTSTATE_ESCALATED'];

export function realisticIds(count: number): string[] {
  return Array.from(
    { length: count },
    (_, at) => `${digitsOf(at)}-9abc-4def-8123-456789ab${String(at).padStart(4, '0')}`,
  );
}

function digitsOf(at: number): string {
  return (0x12345678 + at * 7919).toString(16);
}

/** Resources with names, types and SKUs of the lengths that real ones have. */
export function realisticEntries(count: number): SourceEntry[] {
  return realisticIds(count).map((id, at) => {
    const { key, label, skus } = KINDS[at % KINDS.length] as (typeof KINDS)[number];
    const sku = skus[at % skus.length] ?? '';
    const record = wireRecord(id, {
      resource_type: { key, label },
      name: `${key.slice(-3).toLowerCase()}-${digitsOf(at)}cdef`,
      display_name: `${TEAMS[at % TEAMS.length]}-${ROLES[at % ROLES.length]}-${String(at).padStart(3, '0')}`,
      sku,
      gpu_model: sku.endsWith('GPU') ? 'NVIDIA A100-SXM4-80GB' : '',
      state: STATES[at % 20 < 4 ? at % 4 : 0],
    });
    return { record, product: at % 2 === 0 ? 'product.lepton-acp-new' : 'product.slb', alertable: at % 4 !== 2 };
  });
}
