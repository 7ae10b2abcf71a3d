/** Grafana's names for the units in use. */
export const UNIT = {
  count: 'locale',
  short: 'short',
  ratio: 'percentunit',
  seconds: 's',
  bytes: 'bytes',
  requestsPerSecond: 'reqps',
  date: 'dateTimeAsIso',
  text: 'string',
} as const;
