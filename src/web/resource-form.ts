import { ALERTABLE } from '../station/selection.ts';
import type { StationSpec } from '../station/spec.ts';
import { type Html, html } from './html.ts';
import type { Count, ResourceCounts } from './resource-counts.ts';
import { NONE, type ResourceQuery } from './resource-query.ts';
import { numberText } from './words.ts';

/** Narrows the resources by an address that can be kept; the order stays. */
export function resourceForm(
  { products, alertability }: Pick<StationSpec, 'products' | 'alertability'>,
  counts: ResourceCounts,
  { selection, order }: ResourceQuery,
): Html {
  const alertable = ALERTABLE.map(
    (word) => html`<option value="${word}"${marked(selection.alertable === word, 'selected')}>${word}</option>`,
  );
  return html`<form id="narrow" class="controls" role="search" aria-label="Resources" method="get" action="#resources">
<label for="search">Search in id, name and display name <input id="search" name="search" type="search" value="${selection.search ?? ''}" autocomplete="off" spellcheck="false"></label>
${choice('type', 'Type', counts.types, selection.type)}
${products.length === 0 ? [] : choice('product', 'Product', counts.products, selection.product)}
${choice('state', 'State', counts.states, selection.state)}
${alertability ? html`<label for="alertable">Alertable <select id="alertable" name="alertable"><option value="">any</option>${alertable}</select></label>` : []}
<label class="check" for="without-rules"><input id="without-rules" name="without_rules" type="checkbox" value="yes"${marked(selection.withoutRules === true, 'checked')}> Without alert rules</label>
${order === undefined ? [] : html`<input type="hidden" name="sort" value="${order.by}"><input type="hidden" name="order" value="${order.descending ? 'desc' : 'asc'}">`}
<button type="submit">Show</button>
<p><a id="reset" href="?#resources">Show all</a></p>
</form>`;
}

/** A value that no resource has any more stays chosen: the page says what it shows. */
function choice(name: 'type' | 'product' | 'state', label: string, counts: readonly Count[], chosen: string | undefined): Html {
  const gone = chosen === undefined || counts.some(({ key }) => key === chosen) ? [] : [{ key: chosen, count: 0 }];
  const options = [...counts, ...gone].map(({ key, count }) => {
    const text = key === '' ? NONE : key;
    return html`<option value="${text}"${marked(key === chosen, 'selected')}>${text} (${numberText(count)})</option>`;
  });
  return html`<label for="${name}">${label} <select id="${name}" name="${name}"><option value="">any</option>${options}</select></label>`;
}

function marked(isSo: boolean, attribute: 'selected' | 'checked'): Html {
  return isSo ? html` ${attribute}` : html``;
}
