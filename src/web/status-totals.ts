import { figures } from './figures.ts';
import type { Html } from './html.ts';
import type { StationStatus } from './port.ts';
import { coverageOf, coverageText, stateOf } from './station-state.ts';
import { numberText } from './words.ts';

/** All stations added up. */
export function statusTotals(stations: readonly StationStatus[]): Html {
  const inState = (state: ReturnType<typeof stateOf>) => numberText(stations.filter((station) => stateOf(station) === state).length);
  const resources = stations.reduce((sum, { snapshot }) => sum + (snapshot?.resources ?? 0), 0);
  return figures('totals', [
    ['Stations', numberText(stations.length)],
    ['Up', inState('up')],
    ['Failing', inState('failing')],
    ['Not tried', inState('not-tried')],
    ['Resources', numberText(resources)],
    ['Coverage', coverageText(totalCoverage(stations))],
  ]);
}

/** Over the stations that know theirs. */
function totalCoverage(stations: readonly StationStatus[]): ReturnType<typeof coverageOf> {
  const known = stations.map(coverageOf).filter((coverage) => typeof coverage === 'object');
  if (known.length === 0) return 'no station knows its coverage';
  const sum = (key: 'alertable' | 'withRules') => known.reduce((total, coverage) => total + coverage[key], 0);
  return { alertable: sum('alertable'), withRules: sum('withRules') };
}
