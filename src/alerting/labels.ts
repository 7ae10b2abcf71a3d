export type Labels = Readonly<Record<string, string>>;

/** The labels that meet a condition. */
export function where(labels: Labels, isKept: (name: string, value: string) => boolean): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name, value]) => isKept(name, value)));
}

/** `a="b",c="d"` */
export function labelsText(labels: Labels, omitted: readonly string[] = []): string {
  const shown = Object.entries(labels).filter(([name]) => !omitted.includes(name));
  return shown.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
}
