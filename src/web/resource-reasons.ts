import type { Resource } from '../station/resource.ts';
import type { StationSpec } from '../station/spec.ts';
import { type Html, html } from './html.ts';

/** Which of the configured products' listings claimed the resource. */
export function productReason({ products }: Pick<StationSpec, 'products'>, { product }: Pick<Resource, 'product'>): Html {
  if (products.length === 0) return html`unknown: the configuration names no <code>products</code> for this station`;
  const claimed = products.indexOf(product);
  const told = (at: number) => {
    if (claimed === -1 || at < claimed) return html`its listing did not hold the resource`;
    return at === claimed ? html`<strong>the first whose listing held the resource</strong>` : html`comes later, so it was not decisive`;
  };
  return html`${product === '' ? 'none' : html`<code>${product}</code>`}; the configured products in their order:
<ol>${products.map((name, at) => html`<li><code>${name}</code>: ${told(at)}</li>`)}</ol>`;
}

/** Whether the resource can have alerts, and how that is known. */
export function alertableReason(
  { alertability, filters }: Pick<StationSpec, 'alertability' | 'filters'>,
  { alertable }: Pick<Resource, 'alertable'>,
): Html {
  if (!alertability) return html`unknown: <code>alertability</code> is not asked for in the configuration`;
  if (filters.enabledAlert) return html`yes: the station’s filter <code>enabled_alert</code> lists alertable resources alone`;
  if (alertable === undefined) return html`unknown: the listing of alertable resources lacks it, but was not proven whole`;
  return alertable
    ? html`yes: the listing of alertable resources (<code>enabled_alert=true</code>) held it`
    : html`no: the listing of alertable resources (<code>enabled_alert=true</code>) is whole and lacks it`;
}
