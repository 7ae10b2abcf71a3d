import type { ExporterPort } from '../port.ts';
import type { AbortableHandler } from '../request-limit.ts';
import { ROUTES } from '../routes.ts';
import { type Html, html } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';

/** The configuration in force for people; other clients get its text alone. */
export function configPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  let rendered: { readonly text: string; readonly content: Html } | undefined;
  return (_request, response) => {
    const text = exporter.configuration();
    // The configuration of many stations takes milliseconds to escape, and changes on a reload alone.
    if (rendered?.text !== text) rendered = { text, content: configContent(text) };
    sendPage(
      response,
      200,
      { title: `Configuration · ${EXPORTER}`, root: './', content: rendered.content, route: ROUTES.config },
      options,
    );
  };
}

function configContent(text: string): Html {
  return html`<h1>Configuration</h1>
<p>The configuration in force. Secrets are shown as <code>&lt;secret&gt;</code>. <a href="?format=text">Plain text</a></p>
<pre id="configuration">${text}</pre>`;
}
