import { resourceFamily } from './family.ts';

/** What is published of each resource by itself. */
export const RESOURCE_FAMILIES = [
  resourceFamily({
    name: 'telemetry_station_resource_info',
    help: 'A resource and what describes it; alertable is true, false or empty when it is not known.',
    type: 'gauge',
    labels: ['display_name', 'resource_type', 'product', 'sku', 'gpu_model', 'alertable'],
    answers: 'the resources that can have alerts, with all that describes them',
    example: 'telemetry_station_resource_info{alertable="true"}',
    sample: (r) => [1, r.displayName, r.type, r.product, r.sku, r.gpuModel, String(r.alertable ?? '')],
  }),
  resourceFamily({
    name: 'telemetry_station_resource_state',
    help: 'The alert state of the resource: 1 for the current one.',
    type: 'gauge',
    labels: ['state'],
    answers: 'which resources are firing',
    example: 'telemetry_station_resource_state{state="ALERTSTATE_FIRING"} == 1',
    sample: (r) => (r.state === '' ? undefined : [1, r.state]),
  }),
  resourceFamily({
    name: 'telemetry_station_resource_alert_rules',
    help: 'Alert rules on the resource.',
    type: 'gauge',
    labels: [],
    answers: 'which resources nobody watches',
    example: 'telemetry_station_resource_alert_rules == 0',
    sample: (r) => (r.alertRules === undefined ? undefined : [r.alertRules]),
  }),
  resourceFamily({
    name: 'telemetry_station_resource_created_timestamp_seconds',
    help: 'When the resource was created.',
    type: 'gauge',
    labels: [],
    answers: 'which resources are younger than a day',
    example: 'time() - telemetry_station_resource_created_timestamp_seconds < 86400',
    sample: (r) => (r.createdSeconds === undefined ? undefined : [r.createdSeconds]),
  }),
  resourceFamily({
    name: 'telemetry_station_resource_sku_quantity',
    help: 'The quantity stated by the sku of the resource.',
    type: 'gauge',
    labels: ['unit'],
    answers: 'the ten resources with the most GPUs',
    example: 'topk(10, telemetry_station_resource_sku_quantity{unit="GPU"})',
    sample: (r) => r.quantity && [r.quantity.value, r.quantity.unit],
  }),
] as const;
