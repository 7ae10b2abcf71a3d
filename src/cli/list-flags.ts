import { ALERTABLE, SORT_KEYS } from '../station/selection.ts';
import type { Flag } from './flag.ts';
import { choice, file, integer, sortOrder, text, toggle } from './flag-kind.ts';

/** What to print of a station, and where to write it down. */
export const LIST_FLAGS = [
  { name: 'format', kind: choice('table', 'json', 'csv'), default: 'table', only: ['list'], help: 'Form of the list: table, json or csv.' },
  { name: 'search', kind: text, only: ['list'], help: 'Only resources with this in their id, name or display name, in any case.' },
  { name: 'type', kind: text, only: ['list'], help: 'Only resources of this resource type; an empty one finds those that have none.' },
  { name: 'product', kind: text, only: ['list'], help: 'Only resources of this configured product; an empty one finds those of none.' },
  { name: 'state', kind: text, only: ['list'], help: 'Only resources in this state; an empty one finds those that have none.' },
  {
    name: 'alertable',
    kind: choice(...ALERTABLE),
    only: ['list'],
    help: 'Only resources that can have alerts (yes), cannot (no), or of which it is unknown.',
  },
  {
    name: 'without-rules',
    kind: toggle,
    default: 'false',
    only: ['list'],
    help: 'Only resources that are known to have no alert rule.',
  },
  {
    name: 'sort',
    kind: sortOrder,
    only: ['list'],
    help: `What to sort by: ${Object.keys(SORT_KEYS).join(', ')}; - in front turns the order. Without it, the service's own order.`,
  },
  { name: 'limit', kind: integer(1), only: ['list'], help: 'The most resources to print.' },
  { name: 'output', kind: file, default: '-', only: ['record'], help: 'The new file to write to; - is the standard output.' },
] as const satisfies readonly Flag[];
