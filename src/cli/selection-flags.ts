import type { Selection } from '../station/selection.ts';
import type { FlagValues } from './flags.ts';

type SelectionFlags = Pick<FlagValues, 'search' | 'type' | 'product' | 'state' | 'alertable' | 'without-rules'>;

/** A flag that was not given does not narrow. */
export function selectionOf({ 'without-rules': withoutRules, ...given }: SelectionFlags): Selection {
  return { ...Object.fromEntries(NARROWING.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]))), withoutRules };
}

const NARROWING = ['search', 'type', 'product', 'state', 'alertable'] as const;
