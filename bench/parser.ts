import { answer, vitals } from './child.ts';
import { type FleetShape, pageBody, stationNames } from './fleet.ts';

export interface ParserMethods {
  /** The CPU that parsing all pages of the fleet takes, in milliseconds; nothing is kept. */
  parse(shape: FleetShape, pageSize: number, version: number): number;
}

answer({
  parse: (shape: FleetShape, pageSize: number, version: number) => {
    let cpu = 0;
    for (const station of stationNames(shape)) {
      for (let offset = 0; offset < shape.resourcesPerStation; offset += pageSize) {
        const body = Buffer.from(pageBody(shape, station, offset, pageSize, version));
        const before = vitals.cpu();
        JSON.parse(body.toString());
        cpu += vitals.cpu() - before;
      }
    }
    return cpu;
  },
});
