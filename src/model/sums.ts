export function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

export function add<Key>(sums: Map<Key, number>, key: Key, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}

export function newCounts(): Map<string, number> {
  return new Map();
}
