import { ALERT_STATES, stateWord } from '../../inventory/resource-words.ts';
import { breakable, type Html, html, unknown } from './html.ts';

/** An alert state in words and colour, with its token as a tooltip. */
export function alertStateBadge(token: string): Html {
  if (token === '') return unknown('not reported');
  const style = ALERT_STATES.get(token)?.toLowerCase() ?? 'unspecified';
  return html`<span class="badge ${style}" title="${token}">${breakable(stateWord(token))}</span>`;
}

/** A type by its short name, with its key as a tooltip. */
export function typeName(key: string, names: ReadonlyMap<string, string>): Html {
  if (key === '') return unknown('not reported');
  return html`<span title="${key}">${breakable(names.get(key) ?? key)}</span>`;
}
