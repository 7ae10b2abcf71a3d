import { getBuiltinModule } from 'node:process';
import type { WebOptions } from '../port.ts';
import { type ErrorPage, sendText } from '../respond.ts';
import { pathPrefix } from '../routes.ts';
import { html } from './html.ts';
import { sendPage } from './layout.ts';

// Not an import, which reads every export of node:http, and with it loads the WebSocket and fetch of Node 22 and later.
const { STATUS_CODES } = getBuiltinModule('node:http');

/** The page of an error. Not on the paths that everyone may request: it has links and the version. */
export function errorPage(options: WebOptions, openPaths: ReadonlySet<string>): ErrorPage {
  const prefix = pathPrefix(options.externalUrl);
  return (response, { status, message, link }) => {
    if (openPaths.has(response.req.path)) return sendText(response, status, message);
    const [path = '', query] = response.req.originalUrl.split('?', 2);
    const root = rootFrom(path, prefix);
    const heading = headingOf(status);
    const text = message.trim();
    const content = html`<h1>${heading}</h1>
${text === `${heading}.` ? [] : html`<p class="message">${text}</p>`}
<p>${link ? html`<a href="${root}${link.path}">${link.words}</a> · ` : []}${status === 400 && query ? html`<a href="?">This page without its query</a> · ` : []}<a href="${root}">All stations</a></p>`;
    sendPage(response, { title: heading, status, root, content }, options);
  };
}

/** The reason phrase of the status, as a heading. */
function headingOf(status: number): string {
  const [first = '', ...rest] = STATUS_CODES[status] ?? `Status ${status}`;
  return first + rest.join('').toLowerCase();
}

/** The relative path to the root, or to the prefix if the path is below it. */
function rootFrom(path: string, prefix: string): string {
  const below = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
  return '../'.repeat(below.split('/').length - 2) || './';
}
