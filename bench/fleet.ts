/** A generated fleet; pages are cheap to build, so that the service is not the bottleneck. */
export interface FleetShape {
  readonly stations: number;
  readonly resourcesPerStation: number;
}

const TYPES = [
  ['resource_type.compute.aec2.v1.instance', 'Elastic compute instance'],
  ['resource_type.compute.workspace.v1.instance', 'Workspace'],
  ['resource_type.storage.afs.v1.volume', 'File storage volume'],
  ['resource_type.network.eip.v1.eip', 'Elastic IP'],
] as const;
const STATES = [
  'ALERTSTATE_INACTIVE',
  'ALERTSTATE_INACTIVE',
  'ALERTSTATE_INACTIVE',
  'ALERTSTATE_PENDING',
  'ALERTSTATE_FIRING',
];
const SKUS = ['8 GPU', '4 GPU', '500 GiB', '100 Mbps'];

/**
 * The body of a page. Every record differs between versions, as it does in practice: by its alert rules, and most also by their state. Between
 * generations all resources are replaced by others.
 */
export function pageBody(
  shape: FleetShape,
  station: string,
  offset: number,
  size: number,
  version: number,
  generation = 0,
): string {
  const records: string[] = [];
  for (let index = offset; index < Math.min(offset + size, shape.resourcesPerStation); index += 1)
    records.push(record(station, index, version, generation));
  return `{"resources":[${records.join(',')}],"page":{"offset":${offset},"size":${size},"total":${shape.resourcesPerStation}}}`;
}

export function stationNames({ stations }: FleetShape): string[] {
  return Array.from({ length: stations }, (_, index) => `ts-${String(index).padStart(4, '0')}`);
}

function record(station: string, index: number, version: number, generation: number): string {
  const kind = index % TYPES.length;
  const [key, label] = TYPES[kind] ?? TYPES[0];
  const unique = hashOf(`${station}/${generation}`, index);
  const id = `${unique}-${String(index).padStart(6, '0')}-4c1e-9d3a-${unique.slice(0, 4)}${station.slice(3)}${unique.slice(4)}`;
  return `{"resource_type":{"key":"${key}","label":"${label}"},"resource_id":"/subscriptions/0b7c4a52-7a54/resourceGroups/default/zones/cn-east-01a/instances/${id}","create_time":"2025-0${1 + (index % 9)}-1${index % 10}T08:${10 + (index % 50)}:00.${String(index % 1000).padStart(3, '0')}456Z","sku":"${SKUS[kind]}","state":"${STATES[(index + version) % STATES.length]}","display_name":"训练任务 ${unique} of team ${index % 17}","alert_rules_count":${(index * 7 + version) % 13},"name":"instance-${unique}-${index}","gpu_model":"${kind < 2 ? 'N4lS-80G' : ''}"}`;
}

function hashOf(station: string, index: number): string {
  let hash = 2_166_136_261;
  for (const text of [station, String(index)])
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
