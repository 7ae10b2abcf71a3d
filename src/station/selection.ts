import type { Part } from './listing.ts';
import type { Resource } from './resource.ts';
import type { TaskQueue } from './task-queue.ts';

/** Which of a station's resources to show; an absent property selects all. '' selects resources without the value. */
export interface Selection {
  /** A substring of the id, name or display name, case-insensitive. */
  readonly search?: string;
  readonly type?: string;
  readonly product?: string;
  readonly state?: string;
  readonly alertable?: Alertable;
  /** Only resources that are known to have no alert rules. */
  readonly withoutRules?: boolean;
}

export const ALERTABLE = ['yes', 'no', 'unknown'] as const;

export type Alertable = (typeof ALERTABLE)[number];

export const SORT_KEYS = {
  id: (resource) => resource.id,
  name: (resource) => resource.name,
  display_name: (resource) => resource.displayName,
  type: (resource) => resource.type,
  product: (resource) => resource.product,
  state: (resource) => resource.state,
  alertable: alertableOf,
  alert_rules: (resource) => resource.alertRules,
  created: (resource) => resource.createdSeconds,
  sku: (resource) => resource.sku,
  gpu_model: (resource) => resource.gpuModel,
} as const satisfies Record<string, (resource: Resource) => string | number | undefined>;

export type SortKey = keyof typeof SORT_KEYS;

/** Unknown and empty values sort last in either direction; ties sort by id. */
export interface Order {
  readonly by: SortKey;
  readonly descending: boolean;
}

/**
 * In the service's order when none is given. Works in short tasks, so that a large station does not block the event loop.
 * Rejects with the reason of the signal once it aborts; no further task runs.
 */
export async function selectResources(
  parts: readonly Part<Resource>[],
  selection: Selection,
  order: Order | undefined,
  tasks: TaskQueue,
  signal?: AbortSignal,
): Promise<readonly Resource[]> {
  const run = <T>(task: () => T) =>
    tasks.run(() => {
      signal?.throwIfAborted();
      return task();
    });
  const isSelected = selectionFilter(selection);
  const compare = order && comparison(order);
  let runs: (readonly Resource[])[] = [];
  for (const part of parts) {
    runs.push(
      await run(() => {
        const selected = part.filter(isSelected);
        return compare ? selected.sort(compare) : selected;
      }),
    );
  }
  if (!compare) return runs.flat();
  while (runs.length > 1) runs = await mergeInPairs(runs, compare, run);
  return runs[0] ?? [];
}

export function alertableOf({ alertable }: Pick<Resource, 'alertable'>): Alertable {
  if (alertable === undefined) return 'unknown';
  return alertable ? 'yes' : 'no';
}

function selectionFilter(selection: Selection): (resource: Resource) => boolean {
  const { type, product, state, alertable, withoutRules } = selection;
  const search = selection.search?.toLowerCase();
  return (resource) =>
    (type === undefined || resource.type === type) &&
    (product === undefined || resource.product === product) &&
    (state === undefined || resource.state === state) &&
    (alertable === undefined || alertableOf(resource) === alertable) &&
    (withoutRules !== true || resource.alertRules === 0) &&
    (search === undefined || [resource.id, resource.name, resource.displayName].some((text) => text.toLowerCase().includes(search)));
}

type Comparison = (a: Resource, b: Resource) => number;

function comparison({ by, descending }: Order): Comparison {
  const key: (resource: Resource) => string | number | undefined = SORT_KEYS[by];
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === right) return a.id < b.id ? -1 : 1;
    if (isEmpty(left) || isEmpty(right)) return isEmpty(left) ? 1 : -1;
    return left < right ? -sign : sign;
  };
}

function isEmpty(key: string | number | undefined): key is '' | undefined {
  return key === undefined || key === '';
}

async function mergeInPairs(
  runs: readonly (readonly Resource[])[],
  compare: Comparison,
  run: TaskQueue['run'],
): Promise<(readonly Resource[])[]> {
  const merged: (readonly Resource[])[] = [];
  for (let at = 0; at < runs.length; at += 2) merged.push(await run(() => mergeRuns(runs[at] ?? [], runs[at + 1] ?? [], compare)));
  return merged;
}

function mergeRuns(left: readonly Resource[], right: readonly Resource[], compare: Comparison): readonly Resource[] {
  const merged: Resource[] = [];
  let at = 0;
  for (const resource of left) {
    for (let next = right[at]; next !== undefined && compare(next, resource) < 0; next = right[at]) {
      merged.push(next);
      at += 1;
    }
    merged.push(resource);
  }
  return merged.concat(right.slice(at));
}
