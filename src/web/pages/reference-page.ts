import { FAMILY_DESCRIPTIONS } from '../../metrics/catalogue.ts';
import type { FamilyDescription } from '../../metrics/family.ts';
import type { RejectedReload } from '../port.ts';
import { ROUTES } from '../routes.ts';
import { breakable, facts, type Html, html, momentText, utcTime } from './html.ts';
import { type PageHandler, sendPage } from './layout.ts';

/** Name, type, labels, help and an example query of every metric. */
export const referencePage: PageHandler = (_exporter, options) => {
  const content = html`<h1>Metrics reference</h1>
<p>All families of a station come from one snapshot, so they are consistent. A value that the service does not report has no sample; it is never 0. Missing text is an empty label value.</p>
<table id="families" class="cards">
<caption>Metrics in the order of the exposition</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Labels</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${FAMILY_DESCRIPTIONS.map(familyRow)}</tbody>
</table>`;
  return (_request, response) => {
    sendPage(response, { title: 'Metrics reference', root: './', content, route: ROUTES.reference }, options);
  };
};

/** The configuration in force for people; other clients get its text alone. */
export const configPage: PageHandler = (exporter, options) => (_request, response) => {
  const { file, loadedMs, text, defaultComment } = exporter.commentedConfiguration();
  const lines = text
    .split(/(?<=\n)/)
    .map((line) =>
      line.trimEnd().endsWith(defaultComment) ? html`<span class="quiet">${line}</span>` : html`${line}`,
    );
  const content = html`<h1>Configuration</h1>
${facts('lines', 'loaded', [
  { term: 'File', value: html`<code>${file}</code>` },
  { term: 'Loaded', value: html`${utcTime(loadedMs)}, ${momentText(loadedMs, options.now())}` },
])}
${rejectedNote(exporter.rejectedReload())}<p>The configuration in force. Values marked <code>${defaultComment}</code> are not set in the file. Secrets are shown as <code>&lt;secret&gt;</code>. <a href="?format=text">Plain text</a></p>
<pre id="configuration">${lines}</pre>`;
  sendPage(response, { title: 'Configuration', root: './', content, route: ROUTES.config }, options);
};

function rejectedNote(rejected: RejectedReload | undefined): Html {
  if (rejected === undefined) return html``;
  return html`<div class="failure-note warning" id="rejected">
<p>The reload at ${utcTime(rejected.atMs)} was rejected; the configuration below stays in force.</p>
<p class="said">${rejected.problems.join('\n')}</p>
</div>
`;
}

function familyRow({ name, type, labels, help, exampleTitle, example }: FamilyDescription): Html {
  return html`<tr id="${name}">
<th scope="row"><a class="code" href="#${name}">${breakable(name)}</a></th>
<td data-label="Type">${type}</td>
<td data-label="Labels"><span class="code">${breakable(labels.join(', '))}</span></td>
<td data-label="Meaning"><span>${help} <span class="sub">${exampleTitle}:</span> <code class="sub example">${breakable(example)}</code></span></td>
</tr>
`;
}
