import { AnchoredRegExp } from '../text/anchored-regexp.ts';
import type { RelabelConfig } from './prometheus.ts';

export type Labels = Readonly<Record<string, string>>;

/** The labels that meet a condition. */
export function where(labels: Labels, isKept: (name: string) => boolean): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => isKept(name)));
}

/** `a="b",c="d"` */
export function labelsText(labels: Labels, omitted: readonly string[] = []): string {
  const shown = Object.entries(labels).filter(([name]) => !omitted.includes(name));
  return shown.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
}

/** The actions that do nothing but drop labels. */
export const LABEL_ACTIONS = ['labeldrop', 'labelkeep'];

/** Whether it drops the label, or all series of the metric. Which series other labels decide on is not computed. */
export function isDropped(name: string, kind: 'label' | 'metric', { action, source_labels, regex }: RelabelConfig) {
  const actions = kind === 'label' ? LABEL_ACTIONS : ['drop', 'keep'];
  if (!actions.includes(action) || (kind === 'metric' && source_labels.join() !== '__name__')) return false;
  return new AnchoredRegExp(regex).matches(name) === action.endsWith('drop');
}

/** The labels that remain. */
export function keptLabels(configs: readonly RelabelConfig[], labels: Labels): Labels {
  return where(labels, (name) => !configs.some((config) => isDropped(name, 'label', config)));
}
