import type { SimulatedPath } from '../../lab/simulator/listing.ts';
import type { SimulatedService } from './simulated-service.ts';

export const stationPath: SimulatedPath = {
  subscription: 'sub',
  resource_group: 'rg',
  zone: 'z1',
  telemetry_station: 'ts',
};

export function resourcesPath({ subscription, resource_group, zone, telemetry_station }: SimulatedPath): string {
  const parts = [subscription, resource_group, zone, telemetry_station].map(encodeURIComponent);
  return `/monitor/ts/data/v1/subscriptions/${parts[0]}/resourceGroups/${parts[1]}/zones/${parts[2]}/telemetryStations/${parts[3]}/resources`;
}

/** One listing request by an ordinary client; `query` is the text after the question mark. */
export function list(service: SimulatedService, query = '', station = stationPath.telemetry_station) {
  const path = resourcesPath({ ...stationPath, telemetry_station: station });
  return fetch(`${service.url}${path}${query && `?${query}`}`);
}
