import { answer, vitals } from './child.ts';
import { type FleetShape, pageBody, stationNames } from './fleet.ts';

export interface ParserMethods {
  /** The CPU of all threads that parsing all pages of the fleet takes, in milliseconds; nothing is kept, so what it leaves is collected on the way. */
  parse(shape: FleetShape, pageSize: number, version: number): number;
}

answer({
  parse: (shape: FleetShape, pageSize: number, version: number) => {
    const bodies: Buffer[] = [];
    for (const station of stationNames(shape)) {
      for (let offset = 0; offset < shape.resourcesPerStation; offset += pageSize) {
        bodies.push(Buffer.from(pageBody(shape, station, offset, pageSize, version)));
      }
    }
    globalThis.gc?.();
    const before = vitals.cpu();
    for (const body of bodies) JSON.parse(body.toString());
    return vitals.cpu() - before;
  },
});
