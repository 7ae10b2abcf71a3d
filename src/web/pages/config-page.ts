import type { RejectedReload } from '../../problems/problems.ts';
import { requireNoParameters } from '../data.ts';
import { ROUTES } from '../routes.ts';
import { descriptionList, type Html, html, momentText, utcTime } from './html.ts';
import { type PageHandler, sendPage } from './layout.ts';

/** The configuration in force for people; other clients get its text alone. */
export const configPage: PageHandler = (exporter, options) => (request, response) => {
  requireNoParameters(request);
  const { file, loadedMs } = exporter.configurationFile();
  const content = html`<h1>Configuration</h1>
${descriptionList('lines', 'loaded', [
  { term: 'File', value: html`<code>${file}</code>` },
  { term: 'Loaded', value: html`${utcTime(loadedMs)}, ${momentText(loadedMs, options.now())}` },
])}
${rejectedNote(exporter.rejectedReload())}<p>The configuration in force, with default values. Secrets are shown as <code>&lt;secret&gt;</code>. <a href="?format=text">Plain text</a></p>
<pre id="configuration">${exporter.configuration()}</pre>`;
  sendPage(response, { title: 'Configuration', root: './', content, route: ROUTES.config }, options);
};

function rejectedNote(rejected: RejectedReload | undefined): Html {
  if (rejected === undefined) return html``;
  return html`<div class="failure-note warning" id="rejected">
<p>Reloads have been rejected since ${utcTime(rejected.atMs)}; the configuration below stays in force.</p>
<p class="said">${rejected.problems.join('\n')}</p>
</div>
`;
}
