import { NONE, resourceSearch } from '../../inventory/resource-query.ts';
import type { Selection } from '../../inventory/selection.ts';
import type { OwnerCount } from '../../inventory/totals.ts';
import { ROUTES } from '../routes.ts';
import { type Html, html, rowId } from './html.ts';
import { coverageText, linkedCount } from './station-parts.ts';
import { type Column, table, tableRow } from './table.ts';

/** A table per label of `resource_labels`, below a note; empty without any. */
export function ownerSection(counts: readonly OwnerCount[], note: Html | readonly Html[]): readonly Html[] {
  return [...new Set(counts.map(({ label }) => label))].map((label) => {
    const columns = columnsOf(label);
    const rows = counts.filter((count) => count.label === label);
    return html`<h2 id="by-${label}">Resources by ${label}</h2>
${note}
${table(
  { id: `owners-${label}`, columns, caption: `Resources by ${label}` },
  rows.map((row) => tableRow(columns, row, rowId(`${label} ${row.value}`))),
)}
`;
  });
}

function columnsOf(label: string): readonly Column<OwnerCount>[] {
  return [
    { heading: label, cell: (count) => html`<a href="${searchHref(count)}">${count.value || NONE}</a>` },
    { heading: 'Resources', isNumber: true, cell: (count) => linkedCount(count.resources, searchHref(count)) },
    {
      heading: 'Firing',
      isNumber: true,
      cell: (count) => linkedCount(count.firing, searchHref(count, { state: 'firing' })),
    },
    {
      heading: 'Coverage',
      isNumber: true,
      cell: ({ coverage }) => coverageText(coverage ?? 'no resource can have alerts, or alert rules are not reported'),
    },
  ];
}

function searchHref({ label, value }: OwnerCount, further: Selection = {}): string {
  return `.${ROUTES.search}${resourceSearch({ selection: { ...further, [label]: value } })}`;
}
