import type { Health, StationView } from '../station/station-cache.ts';
import { type ExpositionFormat, familyHeader } from './encoding.ts';
import { STATION_FAMILIES } from './family-names.ts';
import type { OwnMetrics } from './own-metrics.ts';
import { type EncodingOptions, encodeHealth, type StationText } from './station-text.ts';

/** Puts the kept bytes of the stations together, family by family. */
export class Exposition {
  readonly #options: EncodingOptions;
  readonly #health = new WeakMap<Health, StationText>();
  readonly #headers: Readonly<Record<ExpositionFormat, ReadonlyMap<string, Uint8Array>>> = {
    text: headers('text'),
    openmetrics: headers('openmetrics'),
  };

  constructor(options: EncodingOptions) {
    this.#options = options;
  }

  stations(views: readonly StationView<StationText>[], format: ExpositionFormat): Uint8Array[] {
    const texts = views.flatMap((view) => this.#texts(view));
    const body: Uint8Array[] = [];
    for (const [family, header] of this.#headers[format]) {
      const chunks = texts.flatMap((text) => text.chunks.get(family) ?? []);
      if (chunks.length > 0) body.push(header, ...chunks);
    }
    return body;
  }

  /** The exporter's own metrics, with what these views publish. */
  async own(own: OwnMetrics, views: readonly StationView<StationText>[], format: ExpositionFormat): Promise<Uint8Array> {
    own.published(
      views.map((view) => ({
        name: view.spec.name,
        series: this.#texts(view).reduce((sum, text) => sum + text.series, 0),
        withheld: view.served?.form.withheld ?? 0,
      })),
    );
    return Buffer.from(await own.text(format, this.#options.disabled));
  }

  #texts(view: StationView<StationText>): StationText[] {
    const health = this.#health.get(view.health) ?? encodeHealth(view, this.#options);
    this.#health.set(view.health, health);
    return view.served ? [health, view.served.form] : [health];
  }
}

/** What an OpenMetrics exposition must end with. */
export const OPENMETRICS_END = Buffer.from('# EOF\n');

function headers(format: ExpositionFormat): ReadonlyMap<string, Uint8Array> {
  return new Map(STATION_FAMILIES.map((family) => [family.name, Buffer.from(familyHeader(family, format))]));
}
