import type { ObservedChange } from '../resources/changes.ts';
import { CHANGES } from '../resources/churn.ts';
import { resourceLabel } from '../resources/fields.ts';
import { parseDuration } from '../schema/units.ts';
import { NONE, oneOf, PAGE, TEXT } from './parameters.ts';
import { textTest } from './selection.ts';

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:.*(?:Z|[+-]\d\d:\d\d)$/;

const TIME = {
  expected: 'an RFC 3339 time such as 2026-01-02T03:04:05Z, or a duration such as 24h',
  isValid: (text: string) =>
    parseDuration(text) !== undefined || (RFC_3339.test(text) && !Number.isNaN(Date.parse(text))),
};

/** The time that a parameter means: itself, or so long ago. */
function timeOf(text: string, nowMs: number): number {
  const agoMs = parseDuration(text);
  return agoMs === undefined ? Date.parse(text) : nowMs - agoMs;
}

export const CHANGE_PARAMETERS = {
  search: TEXT,
  /** Only the changes of all stations have this filter. */
  station: TEXT,
  change: oneOf(CHANGES),
  since: TIME,
  until: TIME,
  page: PAGE,
};

/** Which of the changes are selected; an absent parameter selects all. Those that are not in the table are labels of `resource_labels`. */
export function changeTest(
  { search = '', station, change, since, until, page, ...owners }: Readonly<Partial<Record<string, string>>>,
  nowMs: number,
): (observed: ObservedChange) => boolean {
  const fromMs = since === undefined ? Number.NEGATIVE_INFINITY : timeOf(since, nowMs);
  const toMs = until === undefined ? Number.POSITIVE_INFINITY : timeOf(until, nowMs);
  // A pasted ID often has spaces around it.
  const isFound = textTest(search.trim());
  const isOwned = (resource: ObservedChange['resource']) =>
    Object.entries(owners).every(([name, value]) => (resourceLabel(resource, name) || NONE) === value);
  return (observed) =>
    (change === undefined || observed.change === change) &&
    observed.atMs >= fromMs &&
    observed.atMs <= toMs &&
    isOwned(observed.resource) &&
    isFound(observed.resource);
}
