import { Html, html } from './html.ts';

/** A long token that may be broken where its parts meet. */
export function breakable(token: string): Html {
  return new Html(html`${token}`.text.replace(/[._:/-](?=\w)/g, '$&<wbr>'));
}
