import { AnchoredRegExp } from '../text/anchored-regexp.ts';
import { type Labels, where } from './labels.ts';
import type { RelabelConfigs } from './prometheus.ts';

/** Whether series are dropped by their name alone. Those that other labels decide on are not computed. */
export function isDropped(configs: RelabelConfigs, metric: string): boolean {
  return configs.some(
    ({ action, source_labels, regex }) =>
      ['drop', 'keep'].includes(action) &&
      source_labels.join() === '__name__' &&
      new AnchoredRegExp(regex).matches(metric) === (action === 'drop'),
  );
}

/** The labels that remain. */
export function keptLabels(configs: RelabelConfigs, labels: Labels): Labels {
  return where(labels, (name) =>
    configs.every(({ action, regex }) => {
      if (action === 'labeldrop') return !new AnchoredRegExp(regex).matches(name);
      return action !== 'labelkeep' || new AnchoredRegExp(regex).matches(name);
    }),
  );
}

/** Whether the only thing that they do is to drop labels. */
export function onlyDropLabels(configs: RelabelConfigs): boolean {
  return configs.every(({ action }) => action === 'labeldrop' || action === 'labelkeep');
}
