import { MAX_QUOTED_LENGTH, quoted } from '../text/quoted.ts';

/** Keys and list indexes from the root of the configuration. */
export type ConfigPath = readonly (string | number)[];

/**
 * `stations[0].cache.ttl`; other keys are quoted, in brackets. A key is truncated at a colon, because in `{ password:secret }` it
 * contains the secret.
 */
export function formatPath(path: ConfigPath): string {
  return path.map(formatPart).join('').replace(/^\./, '');
}

function formatPart(part: string | number): string {
  if (typeof part === 'number') return `[${part}]`;
  return /^[A-Za-z_][\w-]*$/.test(part) && part.length <= MAX_QUOTED_LENGTH
    ? `.${part}`
    : `[${quoted(part.replace(/:.*/s, ':…'))}]`;
}
