import parameters from './parameters.json' with { type: 'json' };

/** To host the runbooks elsewhere, change it in parameters.json and run `npm run generate`. */
export const RUNBOOK_URL = parameters.runbookUrl;

export const DEFAULT_PARAMETERS = { TelemetryStationApiThrottled: { share: 0.05 } } as const;
