import { resourceFamily } from './family.ts';

/** The per-resource families. */
export const RESOURCE_FAMILIES = [
  resourceFamily({
    name: 'telemetry_station_resource_info',
    help: 'Information about the resource as of the last successful refresh.',
    labels: ['display_name', 'resource_type', 'product', 'sku', 'gpu_model', 'alertable'],
    exampleTitle: 'Resources that can have alerts',
    example: 'telemetry_station_resource_info{alertable="true"}',
    hasResourceLabels: true,
    fields: ['displayName', 'type', 'product', 'sku', 'gpuModel', 'alertable', 'labels'],
    sample: (r) => [1, r.displayName, r.type, r.product, r.sku, r.gpuModel, String(r.alertable ?? '')],
  }),
  resourceFamily({
    name: 'telemetry_station_resource_state',
    help: 'Alert state of the resource as of the last successful refresh.',
    labels: ['state'],
    exampleTitle: 'Firing resources',
    example: 'telemetry_station_resource_state{state="ALERTSTATE_FIRING"} == 1',
    fields: ['state'],
    sample: (r) => (r.state === '' ? undefined : [1, r.state]),
  }),
  resourceFamily({
    name: 'telemetry_station_resource_alert_rules',
    help: 'Alert rules of the resource as of the last successful refresh.',
    exampleTitle: 'Resources without alert rules, except those that cannot have alerts',
    example:
      'telemetry_station_resource_info{alertable!="false"} and on (station, resource_id) (telemetry_station_resource_alert_rules == 0)',
    fields: ['alertRules'],
    sample: (r) => (r.alertRules === undefined ? undefined : [r.alertRules]),
  }),
  resourceFamily({
    name: 'telemetry_station_resource_created_timestamp_seconds',
    help: 'Creation timestamp of the resource as of the last successful refresh.',
    exampleTitle: 'Resources created in the last day',
    example: 'time() - telemetry_station_resource_created_timestamp_seconds < 86400',
    fields: ['createdSeconds'],
    sample: (r) => (r.createdSeconds === undefined ? undefined : [r.createdSeconds]),
  }),
  resourceFamily({
    name: 'telemetry_station_resource_sku_quantity',
    help: 'SKU quantity of the resource as of the last successful refresh.',
    labels: ['unit'],
    exampleTitle: 'Ten resources with the most GPUs',
    example: 'topk(10, telemetry_station_resource_sku_quantity{unit="GPU"})',
    fields: ['quantity'],
    sample: (r) => r.quantity && [r.quantity.value, r.quantity.unit],
  }),
] as const;
