const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/;

/** Seconds since 1970 of an RFC 3339 timestamp; undefined for anything else, for dates that do not exist and for times before 1970. */
export function readTimestamp(text: string): number | undefined {
  const [, date, time, fraction = '0', zone] = RFC_3339.exec(text) ?? [];
  if (date === undefined || time === undefined || zone === undefined) return undefined;
  const local = Date.parse(`${date}T${time}Z`);
  // The parser rolls 30 February over into March: the date must come back as it was given.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 10) !== date) return undefined;
  const instant = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  return instant >= 0 ? Number(`${instant / 1000}.${fraction}`) : undefined;
}
