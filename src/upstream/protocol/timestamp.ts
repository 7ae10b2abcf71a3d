const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const DAYS_BEFORE_1970 = 719_162;

/** Parses an RFC 3339 timestamp to Unix seconds; undefined for anything else, for dates that do not exist and for times before 1970. */
export function readTimestamp(text: string): number | undefined {
  const day = dayOf(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (!(isSeparated(text) && hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const end = endOfFraction(text);
  const seconds = day * 86_400 + (hour * 60 + minute - offsetMinutes(text, end)) * 60 + second;
  // NaN if any part is invalid.
  if (!(seconds >= 0)) return undefined;
  return end === 19 ? seconds : withFraction(seconds, text.slice(20, end));
}

/** NaN for anything but digits, including past the end of the text. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function isSeparated(text: string): boolean {
  const between = text[10];
  const isDateAndTime = between === 'T' || between === 't' || between === ' ';
  return isDateAndTime && text[4] === '-' && text[7] === '-' && text[13] === ':' && text[16] === ':';
}

/** Days since 1970; NaN for a day that does not exist. */
function dayOf(year: number, month: number, day: number): number {
  const before = DAYS_BEFORE_MONTH[month - 1];
  const after = DAYS_BEFORE_MONTH[month];
  if (before === undefined || after === undefined) return Number.NaN;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 1 : 0;
  if (!(day >= 1 && day <= after - before + (month === 2 ? leap : 0))) return Number.NaN;
  const past = year - 1;
  const leaps = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) + (month > 2 ? leap : 0);
  return past * 365 + leaps + before + day - 1 - DAYS_BEFORE_1970;
}

/** The index of the UTC offset; 0 for a decimal point without digits. */
function endOfFraction(text: string): number {
  if (text[19] !== '.') return 19;
  let end = 20;
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end += 1;
  return end === 20 ? 0 : end;
}

function offsetMinutes(text: string, at: number): number {
  const sign = text[at];
  if (sign === 'Z' || sign === 'z') return text.length === at + 1 ? 0 : Number.NaN;
  if ((sign !== '+' && sign !== '-') || text[at + 3] !== ':' || text.length !== at + 6) return Number.NaN;
  const hours = digits(text, at + 1, at + 3);
  const minutes = digits(text, at + 4, at + 6);
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

const TENS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** The double nearest to the decimal text: division is exact enough while both operands are safe integers; longer fractions are parsed as text. */
function withFraction(seconds: number, fraction: string): number {
  const tens = TENS[fraction.length];
  const parts = seconds * Number(tens) + Number(fraction);
  return tens !== undefined && Number.isSafeInteger(parts) ? parts / tens : Number(`${seconds}.${fraction}`);
}
