import type { Resource } from '../station/resource.ts';

/** What is told of a resource, under the names that its labels have; null is what the service did not give or gave unusably. */
export const RESOURCE_COLUMNS = {
  resource_id: ({ id }) => id,
  name: ({ name }) => name,
  display_name: ({ displayName }) => displayName,
  resource_type: ({ type }) => type,
  resource_type_label: ({ typeLabel }) => typeLabel,
  product: ({ product }) => product,
  state: ({ state }) => state,
  alertable: ({ alertable }) => alertable ?? null,
  alert_rules: ({ alertRules }) => alertRules ?? null,
  created: ({ createdSeconds }) => (createdSeconds === undefined ? null : new Date(createdSeconds * 1000).toISOString()),
  sku: ({ sku }) => sku,
  sku_quantity: ({ quantity }) => quantity?.value ?? null,
  sku_unit: ({ quantity }) => quantity?.unit ?? null,
  gpu_model: ({ gpuModel }) => gpuModel,
} as const satisfies Readonly<Record<string, (resource: Resource) => string | number | boolean | null>>;
