import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import type { ExporterPort, WebOptions } from '../port.ts';
import type { PageRenderer } from '../request-limit.ts';
import { send, setPolicy } from '../respond.ts';
import { ROUTES } from '../routes.ts';
import { Html, html } from './html.ts';

/** The content of an HTML page and what its shell depends on. */
interface HtmlPage {
  readonly title?: string;
  readonly status?: number;
  /** Relative path from the page to the root, such as `../`, so that links work under any prefix. */
  readonly root: string;
  /** Contains the h1, except on the status page, whose h1 is the site header. */
  readonly content: Html;
  /** The route of the page, if the navigation links to it. */
  readonly route?: string;
  /** Whether a script keeps it current; it has the controls and notices below. */
  readonly isLive?: boolean;
}

export type PageHandler = (exporter: ExporterPort, options: WebOptions) => PageRenderer;

const EXPORTER = 'Telemetry station exporter';

const STYLE = readAsset('./style.css');

const STYLE_SOURCE = cspHash(STYLE);

const IDIOMORPH = readFileSync(createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js'), 'utf8');

const LIVE_SCRIPT = `'use strict';\n${IDIOMORPH}\n${readAsset('./browser/live-page.js')}`;

const LIVE_SOURCES = [`script-src ${cspHash(LIVE_SCRIPT)}`, "connect-src 'self'"];

/** Hidden until the script runs, which keeps their state in every update. */
export const LIVE_CONTROLS = html`<div id="live" data-keep hidden><button id="pause" type="button">Pause updates</button></div>`;

export const LIVE_NOTICES = html`<p id="currency" class="notice" role="status" data-keep></p>`;

/** Links of the header: what people open. */
const NAVIGATION = [
  [ROUTES.status, 'Stations'],
  [ROUTES.search, 'Resources'],
  [ROUTES.changes, 'Changes'],
  [ROUTES.config, 'Configuration'],
] as const;

/** Without styles, which its policy would block; the colours suit light and dark tabs. */
const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f6fd0"/><path fill="#fff" d="M3 13V9h2v4zm4 0V3h2v10zm4 0V6h2v7z"/></svg>
`;

/** Browsers request this path for other responses than pages, too. */
export const favicon: RequestHandler = (_request, response) => {
  response.setHeader('Cache-Control', 'private, max-age=86400');
  send(response, 200, 'image/svg+xml', FAVICON);
};

/** The policy allows no external content, and only the page's own style and script. */
export function sendPage(response: ServerResponse, page: HtmlPage, options: WebOptions): void {
  const policy = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    "img-src 'self'",
    ...(page.isLive ? LIVE_SOURCES : []),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  setPolicy(response, policy.join('; '));
  send(response, page.status ?? 200, 'text/html; charset=utf-8', renderPage(page, options).text);
}

/** A file beside this one, which the build copies. */
function readAsset(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

function cspHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function renderPage({ title, root, content, route, isLive }: HtmlPage, { telemetryPath, version }: WebOptions): Html {
  const endpoints = [
    [telemetryPath, 'Metrics'],
    [ROUTES.discovery, 'Service discovery'],
    [ROUTES.healthy, 'Healthy'],
    [ROUTES.ready, 'Ready'],
  ] as const;
  const item = ([path, words]: readonly [string, string]) =>
    html`<li><a href="${root}${path.slice(1)}"${path === route ? html` aria-current="page"` : []}>${words}</a></li>\n`;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === undefined ? '' : `${title} · `}${EXPORTER}</title>
<link rel="icon" type="image/svg+xml" href="${root}${ROUTES.favicon.slice(1)}">
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="site">
${route === ROUTES.status ? html`<h1>${EXPORTER}</h1>` : html`<p><a href="${root}">${EXPORTER}</a></p>`}
<nav aria-label="Site">
<ul>
${NAVIGATION.map(item)}</ul>
</nav>
${route === ROUTES.search ? [] : siteSearch(root)}</header>
<main id="content" tabindex="-1">
${content}
</main>
<footer class="site">
<ul>
${endpoints.map(item)}</ul>
<p>Version ${version}</p>
</footer>
${isLive ? html`<script>${new Html(LIVE_SCRIPT)}</script>\n` : []}</body>
</html>
`;
}

/** On the page of the search its own form has the field. */
function siteSearch(root: string): Html {
  return html`<form role="search" aria-label="All stations" action="${root}${ROUTES.search.slice(1)}">
<label class="hidden-text" for="site-search">Search the resources of all stations</label>
<input id="site-search" name="search" type="search" placeholder="All resources" autocomplete="off" spellcheck="false">
<button type="submit">Search</button>
</form>
`;
}
