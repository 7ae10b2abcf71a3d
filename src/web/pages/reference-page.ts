import type { RequestHandler } from 'express';
import { FAMILY_DESCRIPTIONS } from '../../metrics/catalogue.ts';
import type { FamilyDescription } from '../../metrics/family.ts';
import type { ExporterPort } from '../port.ts';
import { sendText } from '../respond.ts';
import { breakable, type Html, html } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';

/** Every metric with its type, labels and meaning, and a query that puts it to use. */
export function referencePage(options: PageOptions): RequestHandler {
  const content = html`<h1>Metrics reference</h1>
<p>All families of a station come from one snapshot, so they add up. A value that the service did not give is no sample, never 0; an optional text is an empty label.</p>
<table id="families" class="cards rows">
<caption>The metrics in the order in which they are published</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Labels</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${FAMILY_DESCRIPTIONS.map(familyRow)}</tbody>
</table>`;
  return (_request, response) => {
    sendPage(response, 200, { title: `Metrics reference · ${EXPORTER}`, root: './', content }, options);
  };
}

export function familyRow({ name, type, labels, help, exampleTitle, example }: FamilyDescription): Html {
  return html`<tr id="${name}">
<th scope="row"><a class="code" href="#${name}">${breakable(name)}</a></th>
<td data-label="Type">${type}</td>
<td data-label="Labels"><span class="code">${labels.join(', ')}</span></td>
<td data-label="Meaning"><span>${help} <span class="sub">${exampleTitle}:</span> <code class="sub example">${example}</code></span></td>
</tr>
`;
}

/** As plain text, so that a browser shows it instead of saving it. */
export function configPage(exporter: ExporterPort): RequestHandler {
  return (_request, response) => sendText(response, 200, exporter.configuration());
}
