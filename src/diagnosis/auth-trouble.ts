import { clockWords, NOTABLE_CLOCK_DIFFERENCE_MS } from './clock-difference.ts';
import type { FailureCase, Trouble } from './trouble.ts';

/** What stands behind credentials that were not accepted, where it is more than that. */
export function authTrouble({ upstream, answers, clockMs = 0 }: FailureCase): Trouble | undefined {
  if (!answers.some(({ status }) => status === 401)) {
    return {
      short: 'not available',
      place: undefined,
      what: 'The credentials could not be had, so the service was not asked.',
      advice:
        'Look at the file that holds them: whether it is there, not empty, and whether the exporter may read it. With oauth2, look at token_url and the client secret.',
    };
  }
  if (upstream.options.auth?.scheme !== 'hmac' || Math.abs(clockMs) <= NOTABLE_CLOCK_DIFFERENCE_MS) return undefined;
  return {
    short: 'clock',
    place: undefined,
    what: `The service does not accept the signature (401), and the clock of this machine is ${clockWords(clockMs)} the service's: that alone makes it reject signatures.`,
    advice: 'Set the clock of this machine, best by NTP. If it is right, the clock of the service is wrong.',
  };
}
