import { NONE, type ResourceQuery, resourceSearch } from '../../query/parameters.ts';
import { type CoverageRow, STATION_LABEL, TYPE_LABEL } from '../../status/owners.ts';
import { shortTypes } from '../../status/resource-words.ts';
import { OWNER_COLUMNS } from '../../status/station-columns.ts';
import { durationText, numberText } from '../../text/words.ts';
import { coverageRowsOf } from '../data.ts';
import { ROUTES } from '../routes.ts';
import { breakable, html, momentText, rowId, unknown } from './html.ts';
import { type PageHandler, sendPage } from './layout.ts';
import { labelHeading } from './resource-list.ts';
import { linkedCount, stationLink, trail } from './station-parts.ts';
import { downloads, type PageColumn, shownColumns, table, tableRow } from './table.ts';

/** Further rows of a table are in the downloads: the most urgent come first. */
const MAX_ROWS = 100;

/** Whose resources are not covered, and since when. */
export const coveragePage: PageHandler = (exporter, options) => async (request, response) => {
  const rows = await coverageRowsOf(exporter, request);
  const withinMs = exporter.specs()[0]?.coverageWithinMs;
  const sections = [...new Set(rows.map(({ label }) => label))].map((label) => {
    const ofLabel = rows.filter((row) => row.label === label);
    const by = label === TYPE_LABEL ? 'type' : label;
    const columns = shownColumns(coverageColumns(by, ofLabel, options.now()), ofLabel);
    const shown = ofLabel.slice(0, MAX_ROWS).map((row) => tableRow(columns, row, rowId(`${by} ${row.value}`)));
    const further = ofLabel.length - shown.length;
    return html`<h2>By ${by}</h2>
${table({ id: `by-${by}`, columns, caption: `Coverage by ${by}` }, shown)}
${further === 0 ? [] : html`<p class="quiet">${numberText(further)} more are in the downloads.</p>\n`}`;
  });
  const within = withinMs === undefined ? 'not configured' : durationText(withinMs);
  const content = html`${trail('./', 'Coverage')}
<h1>Coverage</h1>
<p>Overdue resources are not covered by alert rules, and older than <code>coverage.within</code> (${within}).</p>
${downloads('')}
${sections}`;
  sendPage(response, { title: 'Coverage', root: './', content }, options);
};

/** `by`: a parameter of the search. */
function coverageColumns(by: string, rows: readonly CoverageRow[], nowMs: number): PageColumn<CoverageRow>[] {
  const types = shortTypes(by === 'type' ? rows.map(({ value }) => value) : []);
  const hrefOf = ({ value }: CoverageRow, query: Partial<ResourceQuery> = {}) =>
    `.${ROUTES.search}${resourceSearch({ ...query, selection: { ...query.selection, [by]: value } })}`;
  const count = (heading: string, column: string, query?: Partial<ResourceQuery>): PageColumn<CoverageRow> => {
    const cell = (row: CoverageRow) => {
      const value = OWNER_COLUMNS[column]?.cell(row) ?? undefined;
      if (value === undefined) return unknown(row.counts === undefined ? 'no data' : 'not reported');
      return query ? linkedCount(Number(value), hrefOf(row, query)) : numberText(Number(value));
    };
    const isEmpty = ({ counts }: CoverageRow) => heading === 'Overdue' && counts?.overdue === undefined;
    return { heading, isNumber: true, isEmpty, cell };
  };
  const uncovered = { selection: { without_rules: 'yes' }, sort: 'created' } as const;
  const name = (row: CoverageRow) => breakable(types.get(row.value) || row.value || NONE);
  return [
    {
      heading: labelHeading(by),
      cell: (row) => (by === STATION_LABEL ? stationLink(row.value) : html`<a href="${hrefOf(row)}">${name(row)}</a>`),
    },
    count('Overdue', 'overdue_resources', uncovered),
    {
      heading: 'Oldest',
      cell: ({ counts: { oldestUncovered } = {} }) =>
        oldestUncovered === undefined
          ? unknown('none')
          : momentText(Math.min(1000 * oldestUncovered, nowMs), nowMs, 'rough'),
    },
    count('Not covered', 'resources_without_alert_rules', uncovered),
    count('Unknown age', 'uncovered_resources_with_unknown_age', uncovered),
    count('Unknown', 'resources_with_unknown_alert_coverage', { selection: { without_rules: 'unknown' } }),
    count('Covered', 'resources_with_alert_rules', { selection: { without_rules: 'no' } }),
    count('Exempt', 'exempt_resources', { selection: { alertable: 'no' } }),
  ];
}
