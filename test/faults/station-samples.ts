/** The samples of one station that have to be consistent. */
export interface StationSamples {
  /** Sum of telemetry_station_resources. */
  resources: number;
  /** Number of telemetry_station_resource_info samples. */
  infos: number;
  complete: number | undefined;
  reported: number | undefined;
  rejected: number | undefined;
  up: number | undefined;
  /** Number of reasons, and those with the value 1. */
  reasons: number;
  failingReasons: string[];
  lastAttempt: number | undefined;
  lastSuccess: number | undefined;
}

/** Reads only these families, because the soak checks large expositions many times a second. */
export function readStationSamples(text: string): Map<string, StationSamples> {
  const found = new Map<string, StationSamples>();
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if (end < 0) throw new Error('the last line is not terminated');
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
  const samples = found.get(station) ?? noSamples();
  found.set(station, samples);
  read(samples, Number(line.slice(line.lastIndexOf(' ') + 1)), line);
}

const READERS: Readonly<Record<string, (samples: StationSamples, value: number, line: string) => void>> = {
  resources: (samples, value) => {
    samples.resources += value;
  },
  resource_info: (samples) => {
    samples.infos += 1;
  },
  listing_complete: (samples, value) => {
    samples.complete = value;
  },
  listing_reported_resources: (samples, value) => {
    samples.reported = value;
  },
  listing_rejected_resources: (samples, value) => {
    samples.rejected = value;
  },
  up: (samples, value) => {
    samples.up = value;
  },
  failure: (samples, value, line) => {
    samples.reasons += 1;
    if (value === 1) samples.failingReasons.push(/reason="([^"]*)"/.exec(line)?.[1] ?? '');
  },
  last_attempt_timestamp_seconds: (samples, value) => {
    samples.lastAttempt = value;
  },
  last_success_timestamp_seconds: (samples, value) => {
    samples.lastSuccess = value;
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
