import type { RequestListener } from 'node:http';
import compression from 'compression';
import express, { type IRouter, type RequestHandler, type Router } from 'express';
import type { WebLimit } from '../exposition/own-families.ts';
import {
  byFormat,
  changeList,
  coverageList,
  refreshList,
  resourceList,
  searchData,
  stationData,
  stationList,
} from './data.ts';
import { serviceDiscovery } from './discovery.ts';
import { config, healthy, readiness, reload } from './lifecycle.ts';
import { changesPage } from './pages/changes-page.ts';
import { configPage } from './pages/config-page.ts';
import { coveragePage } from './pages/coverage-page.ts';
import { errorPage } from './pages/error-page.ts';
import { favicon } from './pages/layout.ts';
import { resourcePage } from './pages/resource-page.ts';
import { searchPage } from './pages/search-page.ts';
import { stationPage } from './pages/station-page.ts';
import { statusPage } from './pages/status-page.ts';
import type { ExporterPort, WebOptions } from './port.ts';
import { checkAccess, checkCrossSite, checkRequest } from './request-checks.ts';
import { limitRequests, type PageRenderer, RenderLimit } from './request-limit.ts';
import { failedRequest, methodNotAllowed, notFound, redirectTo, setCommonHeaders } from './respond.ts';
import { literalPath, pathPrefix, ROUTES } from './routes.ts';
import { scrapeAll, scrapeOwn, scrapeStation } from './scrape.ts';

/** Limit of concurrent requests of pages, whose responses may be large or slow to read. */
const MAX_PAGES = 40;

const MAX_RENDERED = 4;

/** Limit of concurrent searches in the resources or the changes of all stations: each holds a list of all that it found until the client has read it. */
const MAX_SEARCHES = 4;

const MAX_RELOADS = 20;

/** All endpoints of the exporter, at the root and under the path of the external URL. */
export function createApp(exporter: ExporterPort, options: WebOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Outside of production, express sends a stack trace when the error handler itself throws.
  app.set('env', 'production');
  const prefix = pathPrefix(options.externalUrl);
  const healthPaths = new Set([ROUTES.healthy, ROUTES.ready].flatMap((path) => [path, `${prefix}${path}`]));
  app.use(checkCrossSite(options), checkAccess(options, healthPaths), checkRequest);

  const routes = routerOf(exporter, options);
  // Before those at the root, because the prefix itself may be /stations.
  if (prefix !== '') {
    readOnly(app, literalPath(prefix), redirectTo(`${prefix}/`));
    app.use(literalPath(prefix), routes);
  }
  app.use(routes);
  app.use(notFound, failedRequest(options.report, errorPage(options, healthPaths)));

  return (request, response) => {
    setCommonHeaders(response);
    const [path = ''] = String(request.url).split('?', 1);
    if (healthPaths.has(path)) {
      app(request, response);
      return;
    }
    void exporter.started.then(() => {
      if (!request.destroyed) app(request, response);
    });
  };
}

function routerOf(exporter: ExporterPort, options: WebOptions): Router {
  const limit = (name: WebLimit, max: number) =>
    limitRequests(max, (client) => options.observer.limitReached(name, client));
  const limitPages = limit('pages', MAX_PAGES);
  const rendering = new RenderLimit(MAX_RENDERED);
  const compress = compression();
  const routes = express.Router({ caseSensitive: true, strict: true });
  const page = (pattern: string, render: PageRenderer) =>
    readOnly(routes, pattern, compress, limitPages(rendering.limited(render)));

  // The telemetry path comes first, so that no other route can shadow it.
  readOnly(routes, literalPath(options.telemetryPath), scrapeAll(exporter, options));
  readOnly(routes, ROUTES.probe, scrapeStation(exporter, options));
  readOnly(routes, ROUTES.ownMetrics, scrapeOwn(exporter, options));
  readOnly(routes, ROUTES.healthy, healthy);
  readOnly(routes, ROUTES.ready, readiness(exporter));
  readOnly(routes, ROUTES.favicon, favicon);
  page(ROUTES.discovery, serviceDiscovery(exporter, options.externalUrl));
  page(ROUTES.config, byFormat({ text: config(exporter), html: configPage(exporter, options) }));
  page(ROUTES.status, byFormat({ html: statusPage(exporter, options), ...stationList(exporter) }));
  page(ROUTES.coverage, byFormat({ html: coveragePage(exporter, options), ...coverageList(exporter) }));
  const search = byFormat({ html: searchPage(exporter, options), ...searchData(exporter) });
  // Apart from the pages, because a search takes as long as many of them.
  const searching = new RenderLimit(MAX_SEARCHES);
  const limitSearches = limit('pages', MAX_SEARCHES);
  readOnly(routes, ROUTES.search, compress, limitSearches(searching.limited(search)));
  const changes = byFormat({ html: changesPage(exporter, options), ...changeList(exporter, options) });
  readOnly(routes, ROUTES.changes, compress, limitSearches(searching.limited(changes)));
  const handleReload = limit('reloads', MAX_RELOADS)(reload(exporter, options.enableLifecycle));
  routes.route(ROUTES.reload).post(handleReload).put(handleReload).all(methodNotAllowed('POST, PUT'));

  readOnly(routes, ROUTES.stations, redirectTo('./'));
  const station = { html: stationPage(exporter, options), json: stationData(exporter, options) };
  page(ROUTES.station, byFormat(station));
  page(ROUTES.refreshes, byFormat(refreshList(exporter)));
  page(ROUTES.stationChanges, changes);
  page(ROUTES.resources, byFormat(resourceList(exporter, options)));
  page(ROUTES.resource, resourcePage(exporter, options));
  return routes;
}

function readOnly(router: Pick<IRouter, 'route'>, pattern: string, ...handlers: RequestHandler[]): void {
  router
    .route(pattern)
    .get(...handlers)
    .all(methodNotAllowed('GET, HEAD'));
}
