import { sampleLine } from './samples.ts';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface AlertState {
  readonly seconds: number;
  readonly state: 'pending' | 'firing';
  readonly sinceSeconds: number;
}

/** The states of an alert at evaluations, as Prometheus derives them from those at which its expression has a result. */
export function alertStates(
  rule: Pick<AlertRule, 'for' | 'keep_firing_for'>,
  active: ReadonlySet<number>,
  evaluations: readonly number[],
): AlertState[] {
  const forSeconds = durationSeconds(rule.for);
  const keepSeconds = durationSeconds(rule.keep_firing_for);
  const states: AlertState[] = [];
  let sinceSeconds: number | undefined;
  let goneSeconds: number | undefined;
  let isFiring = false;
  for (const seconds of evaluations) {
    if (active.has(seconds)) {
      sinceSeconds ??= seconds;
      goneSeconds = undefined;
      isFiring ||= seconds - sinceSeconds >= forSeconds;
    } else {
      goneSeconds ??= seconds;
      isFiring &&= seconds - goneSeconds < keepSeconds;
      if (!isFiring) sinceSeconds = undefined;
    }
    if (sinceSeconds !== undefined) states.push({ seconds, state: isFiring ? 'firing' : 'pending', sinceSeconds });
  }
  return states;
}

/** The samples that Prometheus writes for an alert. */
export function alertSamples(
  { alert, labels }: Pick<AlertRule, 'alert' | 'labels'>,
  { __name__: _, ...series }: Readonly<Record<string, string>>,
  states: readonly AlertState[],
): string {
  const all = { alertname: alert, ...series, ...labels };
  return states
    .flatMap(({ seconds, state, sinceSeconds }) => [
      sampleLine('ALERTS', { ...all, alertstate: state }, 1, seconds),
      sampleLine('ALERTS_FOR_STATE', all, sinceSeconds, seconds),
    ])
    .join('');
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function durationSeconds(text = '0s'): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (Number.isNaN(seconds)) throw new Error(`not a duration: ${text}`);
  return seconds;
}
