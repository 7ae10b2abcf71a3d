import { add } from '../model/sums.ts';
import { RESOURCE_FAMILIES } from '../resources/families.ts';
import { bytesText } from '../text/words.ts';
import { SCRAPER_LIMIT_BYTES } from './thresholds.ts';

/** How large a scrape of all stations is. */
export interface ScrapeSize {
  /** As text, which is what scrapers limit. */
  readonly plainBytes: number;
  readonly gzipBytes: number;
  /** Of the samples of each family of the data, as text. */
  readonly families: ReadonlyMap<string, number>;
}

interface EncodedStation {
  readonly served: { readonly families: ReadonlyMap<string, readonly { readonly length: number }[]> } | undefined;
}

/** `body`: an exposition of these stations. */
export function scrapeSize(
  { plainLength, gzipLength }: { readonly plainLength: number; readonly gzipLength: number },
  stations: readonly EncodedStation[],
): ScrapeSize {
  const families = new Map<string, number>();
  for (const { served } of stations)
    for (const [family, segments] of served?.families ?? [])
      for (const { length } of segments) add(families, family, length);
  return { plainBytes: plainLength, gzipBytes: gzipLength, families };
}

export function scrapeSizeText({ plainBytes, gzipBytes }: ScrapeSize): string {
  return `${bytesText(plainBytes)} as text, ${bytesText(gzipBytes)} with gzip`;
}

/** Enough to get below the limit, usually. */
const MAX_FAMILIES = 3;

/** Which limit of scrapers the size exceeds, and what to do about it; undefined: none. */
export function exceededLimit(
  size: ScrapeSize,
  limitBytes = SCRAPER_LIMIT_BYTES,
): { readonly what: string; readonly advice: string } | undefined {
  const { plainBytes, families } = size;
  if (plainBytes <= limitBytes) return undefined;
  const largest = [...families].toSorted(([, a], [, b]) => b - a).slice(0, MAX_FAMILIES);
  const largestText = largest.map(([name, bytes]) => `${name} (${bytesText(bytes)})`).join(', ');
  const resourceBytes = Object.keys(RESOURCE_FAMILIES).reduce((sum, name) => sum + (families.get(name) ?? 0), 0);
  const perResource =
    resourceBytes === 0
      ? ''
      : ` Without per-resource families (metrics.per_resource: false) it has ${bytesText(resourceBytes)} less.`;
  return {
    what: `A scrape of all stations has ${scrapeSizeText(size)}. vmagent and VictoriaMetrics store nothing of more than ${bytesText(limitBytes)} of text by default (-promscrape.maxScrapeSize); Prometheus has no limit unless body_size_limit is set.`,
    advice: `Raise the limit of the scraper, use shards or a target per station (/sd), or disable families that you do not query with metrics.disabled, the largest of which are ${largestText}.${perResource}`,
  };
}
