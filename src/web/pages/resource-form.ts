import type { Count, ResourceCounts } from '../../inventory/resource-counts.ts';
import { NONE, type ResourceQuery, resourceSearch, sortText } from '../../inventory/resource-query.ts';
import { ALERTABLE, shortFormTest } from '../../inventory/selection.ts';
import { numberText } from '../../inventory/words.ts';
import type { StationSpec } from '../../model/station-spec.ts';
import { OTHER } from '../../refresh/label-values.ts';
import { type Html, html } from './html.ts';
import { MAX_LISTED } from './resource-counts.ts';
import { columnsOf } from './resource-list.ts';

type Choices = Pick<StationSpec, 'products' | 'alertability'>;

/** Filters by a GET request, so that the URL can be bookmarked. */
export function filterForm(spec: Choices, counts: ResourceCounts, query: ResourceQuery): Html {
  const { selection, order } = query;
  const alertable = ALERTABLE.map((word) => ({ value: word, text: word }));
  const isFiltered = Object.keys(selection).length > 0;
  return html`<form id="narrow" class="controls" role="search" aria-label="Resources" method="get" action="#resources">
<label for="search">Search in ID, name and display name <input id="search" name="search" type="search" value="${selection.search ?? ''}" autocomplete="off" spellcheck="false"></label>
${valueSelect('state', 'State', counts.states, selection.state)}
${valueSelect('type', 'Type', counts.types, selection.type)}
${spec.products.length === 0 ? [] : valueSelect('product', 'Product', counts.products, selection.product)}
${spec.alertability ? select('alertable', 'Alertable', [ANY, ...alertable], selection.alertable) : []}
<label class="check" for="without-rules"><input id="without-rules" name="without_rules" type="checkbox" value="yes"${selection.withoutRules ? html` checked` : []}> Without alert rules</label>
${sortSelect(spec, query)}
<button type="submit">Show</button>
${isFiltered ? html`<p><a id="reset" href="${resourceSearch({ selection: {}, order, page: 1 })}#resources">Clear filters</a></p>` : []}
</form>`;
}

interface Option {
  readonly value: string;
  readonly text: string;
}

const ANY: Option = { value: '', text: 'any' };

/** Exactly one option has the attribute `selected`, so that a script can compare the choice with it. */
function select(
  name: string,
  label: string,
  options: readonly Option[],
  chosen: string | undefined,
  isNarrow = false,
): Html {
  const given = options.some(({ value }) => value === chosen) ? chosen : '';
  const items = options.map(
    ({ value, text }) => html`<option value="${value}"${value === given ? html` selected` : []}>${text}</option>`,
  );
  return html`<label for="${name}"${isNarrow ? html` class="narrow"` : []}>${label} <select id="${name}" name="${name}">${items}</select></label>`;
}

/** The given value is always an option, so that the form matches the query, even if it is a short form or no resource has it any more. */
function valueSelect(
  name: 'type' | 'product' | 'state',
  label: string,
  counts: readonly Count[],
  given: string | undefined,
): Html {
  const known = counts.filter(({ key }) => key !== OTHER);
  const options = (chosen?: string) =>
    known
      .filter(({ key }, at) => at < MAX_LISTED || key === chosen)
      .map((count) => ({ value: valueText(count.key), text: optionText(count) }));
  if (given === undefined || known.some(({ key }) => key === given)) {
    return select(name, label, [ANY, ...options(given)], given === undefined ? '' : valueText(given));
  }
  const isMatch = shortFormTest(given);
  const matches = known.filter(({ key }) => isMatch(key));
  const [match] = matches;
  if (match !== undefined && matches.length === 1) return select(name, label, [ANY, ...options(match.key)], match.key);
  const total = matches.reduce((sum, { count }) => sum + count, 0);
  const short = {
    value: valueText(given),
    text: `${valueText(given)} (${matches.length > 1 ? `${matches.length} ${name}s, ` : ''}${numberText(total)})`,
  };
  return select(name, label, [ANY, short, ...options()], short.value);
}

function valueText(key: string): string {
  return key === '' ? NONE : key;
}

function optionText({ name, label, count }: Count): string {
  return `${name}${label === '' ? '' : ` · ${label}`} (${numberText(count)})`;
}

/** On a narrow screen it replaces the headings of the table; elsewhere it is hidden and keeps the order. */
function sortSelect(spec: Choices, { order }: ResourceQuery): Html {
  const options = columnsOf(spec).flatMap(({ heading, by }) => [
    { value: by, text: `${heading}, ascending` },
    { value: `-${by}`, text: `${heading}, descending` },
  ]);
  const chosen = order === undefined ? '' : sortText(order);
  const missing =
    options.some(({ value }) => value === chosen) || chosen === '' ? [] : [{ value: chosen, text: chosen }];
  return select('sort', 'Sort by', [{ value: '', text: 'listing' }, ...options, ...missing], chosen, true);
}
