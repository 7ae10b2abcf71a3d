import { resourceOf } from '../stations/fixtures.ts';

/** A resource of which all is known, without characters that need quotes. */
export const PLAIN = resourceOf('r1', {
  name: 'ws-1',
  displayName: '训练平台-01',
  type: 'resource_type.compute.x',
  state: 'ALERTSTATE_FIRING',
  sku: '2 GPU',
  gpuModel: 'N4lS',
  alertRules: 12,
  createdSeconds: 1_714_564_800.5,
  product: 'product.x',
  alertable: true,
});

/** A resource of which only the ID is known. */
export const BARE = resourceOf('r2', {
  name: '',
  displayName: '',
  type: '',
  typeLabel: '',
  state: '',
  alertRules: undefined,
  createdSeconds: undefined,
});
