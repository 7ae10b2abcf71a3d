import { collectDefaultMetrics, Registry } from 'prom-client';
import { type Clock, systemClock } from '../station/clock.ts';
import { type ExpositionFormat, familyText } from './text-format.ts';

/** Collecting them reads percentiles, V8 statistics and files of the system, which takes longer than the rest of a warm scrape. */
const MAX_AGE_MS = 1000;

type Texts = Readonly<Record<ExpositionFormat, string>>;

/** prom-client's process and Node.js metrics, collected at most once a second. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #elapsedMs: () => number;
  #latest: { readonly atMs: number; readonly texts: Promise<Texts> } | undefined;

  constructor({ elapsedMs }: Pick<Clock, 'elapsedMs'> = systemClock) {
    this.#elapsedMs = elapsedMs;
    collectDefaultMetrics({ register: this.#registry });
  }

  async text(format: ExpositionFormat): Promise<string> {
    const nowMs = this.#elapsedMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= MAX_AGE_MS) this.#latest = { atMs: nowMs, texts: this.#collect() };
    return (await this.#latest.texts)[format];
  }

  /** Both formats at once, because the values of the registry change afterwards. */
  async #collect(): Promise<Texts> {
    const families = await this.#registry.getMetricsAsJSON();
    const text = (format: ExpositionFormat) => families.map((family) => familyText(family, format)).join('');
    return { text: text('text'), openmetrics: text('openmetrics') };
  }
}
