const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Seconds since 1970 of an RFC 3339 timestamp; undefined for anything else, for dates that do not exist and for times before 1970. */
export function readTimestamp(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours = 0, offsetMinutes = 0] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || Number(offsetHours) > 23 || Number(offsetMinutes) > 59)
    return undefined;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // Months and days beyond their range roll over into the next: the day must come back as it was given.
  if (Number(month) > 12 || new Date(date).getUTCDate() !== Number(day)) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  const seconds = date / 1000 + (Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second);
  if (seconds < 0) return undefined;
  // Put together as text, so that it is the nearest number to what was written.
  return fraction === undefined ? seconds : Number(`${seconds}.${fraction}`);
}
