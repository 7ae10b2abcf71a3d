import { processStats, serveMethods } from './child.ts';
import { type FleetShape, pageBody, stationNames } from './fleet.ts';

export interface ParserMethods {
  /** CPU time in milliseconds, all threads and garbage collection included, to parse all pages of the fleet. */
  parse(shape: FleetShape, pageSize: number, version: number): number;
}

serveMethods({
  parse: (shape: FleetShape, pageSize: number, version: number) => {
    const bodies: Buffer[] = [];
    for (const station of stationNames(shape)) {
      for (let offset = 0; offset < shape.resourcesPerStation; offset += pageSize) {
        bodies.push(Buffer.from(pageBody(shape, station, offset, pageSize, version)));
      }
    }
    globalThis.gc?.();
    const before = processStats.cpu();
    for (const body of bodies) JSON.parse(body.toString());
    return processStats.cpu() - before;
  },
});
