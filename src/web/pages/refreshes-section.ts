import { add } from '../../model/sums.ts';
import type { EndedRefresh } from '../../status/latest-refreshes.ts';
import { NOTABLE_WAIT_MS, type StationDetail } from '../../status/station-status.ts';
import { durationText, numberText } from '../../text/words.ts';
import { changesPath, stationPath } from '../routes.ts';
import { dayText, type Html, html, itemList, timeText, unknown } from './html.ts';
import { downloads, type PageColumn, table, tableRow } from './table.ts';

/** The latest refreshes one by one, the newest first, in a part to open. */
export function refreshesSection({
  spec,
  refreshes,
  nowMs,
}: Pick<StationDetail, 'spec' | 'refreshes'> & { readonly nowMs: number }): Html {
  if (refreshes.length === 0) return html`<p id="refreshes">No refresh has ended yet.</p>`;
  const columns = refreshColumns(spec.name, nowMs);
  const rows = refreshes.map((refresh) => tableRow(columns, refresh));
  return html`<details class="refreshes" id="latest-refreshes">
<summary>Latest refreshes: ${outcomesText(refreshes)}</summary>
${table({ id: 'refreshes', columns, caption: 'Refreshes' }, rows)}
${downloads(`../${stationPath(spec.name, '/refreshes')}`)}
</details>`;
}

/** `57 succeeded, 3 failed`. */
function outcomesText(refreshes: readonly EndedRefresh[]): Html {
  const counts = new Map<EndedRefresh['outcome'], number>();
  for (const { outcome } of refreshes) add(counts, outcome, 1);
  const texts = Array.from(
    counts,
    ([outcome, count]) => html`<span class="outcome ${outcome}">${numberText(count)} ${outcome}</span>`,
  );
  return itemList(texts, texts.length);
}

function refreshColumns(station: string, nowMs: number): readonly PageColumn<EndedRefresh>[] {
  const numberColumn = (heading: string, cell: (refresh: EndedRefresh) => Html | string | undefined) => ({
    heading,
    isNumber: true,
    cell: (refresh: EndedRefresh) => cell(refresh) ?? unknown('not known'),
  });
  return [
    {
      heading: 'Ended (UTC)',
      cell: ({ atMs }) => html`${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')}`,
    },
    { heading: 'Outcome', cell: outcomeCell },
    numberColumn('Duration', durationCell),
    numberColumn('Pages', ({ pages }) => knownText(pages)),
    numberColumn('Resources', ({ resources }) => knownText(resources)),
    numberColumn('Firing', firingText),
    { heading: 'Changes', cell: (refresh) => changesText(refresh, station) },
  ];
}

function knownText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : numberText(value);
}

function outcomeCell({ outcome, failure }: EndedRefresh): Html {
  const said = failure ? html` <span class="sub said"><code>${failure.reason}</code>: ${failure.message}</span>` : [];
  return html`<span class="outcome ${outcome}">${outcome}</span>${said}`;
}

function durationCell({ durationMs, waitedMs }: EndedRefresh): Html | undefined {
  if (durationMs === undefined) return undefined;
  const waited = waitedMs < NOTABLE_WAIT_MS ? [] : html` <span class="sub">waited ${durationText(waitedMs)}</span>`;
  return html`${durationText(durationMs)}${waited}`;
}

/** Those in states of unknown meaning may be firing too. */
function firingText({ firing, unknown: unclear = 0 }: EndedRefresh): Html | string | undefined {
  if (firing === undefined || unclear === 0) return knownText(firing);
  return html`${numberText(firing)} <span class="sub no">${numberText(unclear)} unknown</span>`;
}

function changesText({ added, removed, stateChanges, rulesChanges, atMs }: EndedRefresh, station: string): Html {
  const changes = Object.entries({ added, removed, 'changed state': stateChanges, 'changed rules': rulesChanges });
  if (changes.every(([, count]) => count === undefined)) return unknown('not known');
  const texts = changes.flatMap(([what, count]) => (count ? [`${numberText(count)} ${what}`] : []));
  if (texts.length === 0) return html`none`;
  const time = new Date(atMs).toISOString();
  return html`<a href="../${changesPath(station, { since: time, until: time })}">${texts.join(', ')}</a>`;
}
