import type { Recording } from '../../src/simulator/recording.ts';

export const RECORDING: Recording = {
  version: 1,
  station: {
    subscription: 's',
    resource_group: 'g',
    zone: 'z',
    telemetry_station: 't',
    filters: {},
    products: ['product.a'],
    alertability: true,
  },
  listings: [
    {
      filters: {},
      pages: [
        { offset: 0, size: 2, page: { total: '3' }, resources: [{ resource_id: 'a' }, null] },
        { offset: 2, size: 2, page: null, resources: null },
      ],
    },
    { filters: { product: ['product.a'] }, pages: [{ offset: 0, size: 2, resources: [] }] },
  ],
};
