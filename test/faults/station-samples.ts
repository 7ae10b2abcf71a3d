/** What an exposition says of one station, as far as it must add up. */
export interface StationSamples {
  /** The sum of telemetry_station_resources. */
  resources: number;
  /** How many telemetry_station_resource_info there are. */
  infos: number;
  complete: number | undefined;
  reported: number | undefined;
  rejected: number | undefined;
  up: number | undefined;
  /** Every reason there is, and those that hold. */
  reasons: number;
  failingReasons: string[];
  lastAttempt: number | undefined;
  lastSuccess: number | undefined;
}

/** Reads only the families that count, for a page of many thousand lines is to be checked many times a second. */
export function readStationSamples(text: string): Map<string, StationSamples> {
  const found = new Map<string, StationSamples>();
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if (end < 0) throw new Error('the last line does not end');
    readLine(text, start, end, found);
    start = end + 1;
  }
  return found;
}

const PREFIX = 'telemetry_station_';

function readLine(text: string, start: number, end: number, found: Map<string, StationSamples>): void {
  if (!text.startsWith(PREFIX, start)) return;
  const brace = text.indexOf('{', start);
  const read = READERS[text.slice(start + PREFIX.length, brace)];
  if (read === undefined) return;
  const line = text.slice(start, end);
  const station = /\{station="([^"]*)"/.exec(line)?.[1] ?? '';
  const tally = found.get(station) ?? noSamples();
  found.set(station, tally);
  read(tally, Number(line.slice(line.lastIndexOf(' ') + 1)), line);
}

const READERS: Readonly<Record<string, (tally: StationSamples, value: number, line: string) => void>> = {
  resources: (tally, value) => {
    tally.resources += value;
  },
  resource_info: (tally) => {
    tally.infos += 1;
  },
  listing_complete: (tally, value) => {
    tally.complete = value;
  },
  listing_reported_resources: (tally, value) => {
    tally.reported = value;
  },
  listing_rejected_resources: (tally, value) => {
    tally.rejected = value;
  },
  up: (tally, value) => {
    tally.up = value;
  },
  failure: (tally, value, line) => {
    tally.reasons += 1;
    if (value === 1) tally.failingReasons.push(/reason="([^"]*)"/.exec(line)?.[1] ?? '');
  },
  last_attempt_timestamp_seconds: (tally, value) => {
    tally.lastAttempt = value;
  },
  last_success_timestamp_seconds: (tally, value) => {
    tally.lastSuccess = value;
  },
};

function noSamples(): StationSamples {
  return {
    resources: 0,
    infos: 0,
    complete: undefined,
    reported: undefined,
    rejected: undefined,
    up: undefined,
    reasons: 0,
    failingReasons: [],
    lastAttempt: undefined,
    lastSuccess: undefined,
  };
}
