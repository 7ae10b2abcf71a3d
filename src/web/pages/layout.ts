import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { WebOptions } from '../options.ts';
import { send, setPolicy } from '../respond.ts';
import { ROUTES } from '../routes.ts';
import { Html, html } from './html.ts';
import { PAGE_STYLE } from './style.ts';

/** The content of an HTML page and what its shell depends on. */
export interface HtmlPage {
  readonly title: string;
  /** Relative path from the page to the root, such as `../`, so that links work under any prefix. */
  readonly root: string;
  /** Contains the h1, except on the status page, whose h1 is the site header. */
  readonly content: Html;
  readonly isStatusPage?: boolean;
  /** May send requests to the exporter. */
  readonly script?: string;
  readonly hasForm?: boolean;
}

export type PageOptions = Pick<WebOptions, 'telemetryPath' | 'version' | 'now' | 'elapsedMs'>;

export const EXPORTER = 'Telemetry station exporter';

const STYLE_SOURCE = cspHash(PAGE_STYLE);

/** The policy allows no external content, and only the page's own style and script. */
export function sendPage(response: ServerResponse, status: number, page: HtmlPage, options: PageOptions): void {
  setPolicy(response, policy(page));
  send(response, status, 'text/html; charset=utf-8', renderPage(page, options).text);
}

function policy({ script, hasForm = false }: HtmlPage): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    ...(script === undefined ? [] : [`script-src ${cspHash(script)}`, "connect-src 'self'"]),
    "base-uri 'none'",
    `form-action ${hasForm ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

function cspHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function renderPage({ title, root, content, script, isStatusPage = false }: HtmlPage, { telemetryPath, version }: PageOptions): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Html(PAGE_STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="site">
${isStatusPage ? html`<h1>${EXPORTER}</h1>` : html`<p><a href="${root}">${EXPORTER}</a></p>`}
<nav aria-label="Endpoints">
<ul>
<li><a href="${root}${telemetryPath.slice(1)}">Metrics</a></li>
<li><a href="${root}${ROUTES.reference.slice(1)}">Metrics reference</a></li>
<li><a href="${root}${ROUTES.discovery.slice(1)}">Service discovery</a></li>
<li><a href="${root}${ROUTES.config.slice(1)}">Configuration</a></li>
<li><a href="${root}${ROUTES.healthy.slice(1)}">Healthy</a></li>
<li><a href="${root}${ROUTES.ready.slice(1)}">Ready</a></li>
</ul>
</nav>
</header>
<main id="content" tabindex="-1">
${content}
</main>
<footer class="site">
<p>Version ${version}</p>
</footer>
${script === undefined ? [] : html`<script>${new Html(script)}</script>\n`}</body>
</html>
`;
}
