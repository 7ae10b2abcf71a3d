import type { ExporterPort } from '../port.ts';
import type { AbortableHandler } from '../request-limit.ts';
import { ROUTES } from '../routes.ts';
import { html } from './html.ts';
import { type PageOptions, sendPage } from './layout.ts';

/** The configuration in force for people; other clients get its text alone. */
export function configPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  return (_request, response) => {
    const content = html`<h1>Configuration</h1>
<p>The configuration in force. Secrets are shown as <code>&lt;secret&gt;</code>. <a href="?format=text">Plain text</a></p>
<pre id="configuration">${exporter.configuration()}</pre>`;
    sendPage(response, { title: 'Configuration', root: './', content, route: ROUTES.config }, options);
  };
}
