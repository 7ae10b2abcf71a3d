import type { Link } from '../../inventory/links.ts';
import { type Html, html } from './html.ts';

/** Links to other tools, as configured. Their servers do not learn the address of the page. */
export function linkList(links: readonly Link[]): Html | readonly Html[] {
  if (links.length === 0) return [];
  const items = links.map(({ name, url }) => html`<li><a href="${url}" rel="noreferrer">${name}</a></li>\n`);
  return html`<nav class="links" aria-label="Links to other tools">
<ul>
${items}</ul>
</nav>
`;
}
