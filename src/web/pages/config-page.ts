import { ROUTES } from '../routes.ts';
import { html } from './html.ts';
import { type PageHandler, sendPage } from './layout.ts';

/** The configuration in force for people; other clients get its text alone. */
export const configPage: PageHandler = (exporter, options) => (_request, response) => {
  const content = html`<h1>Configuration</h1>
<p>The configuration in force. Secrets are shown as <code>&lt;secret&gt;</code>. <a href="?format=text">Plain text</a></p>
<pre id="configuration">${exporter.configuration()}</pre>`;
  sendPage(response, { title: 'Configuration', root: './', content, route: ROUTES.config }, options);
};
