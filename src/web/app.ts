import type { RequestListener } from 'node:http';
import compression from 'compression';
import express, { type IRouter, type RequestHandler, type Router } from 'express';
import { OPEN_ACCESS } from './access/rules.ts';
import { byFormat, changeList, historyList, resourceList, searchData, stationData, stationList } from './data.ts';
import { serviceDiscovery } from './discovery.ts';
import { config, healthy, readiness, refresh, reload } from './lifecycle.ts';
import type { WebObserver, WebOptions } from './options.ts';
import { changesPage } from './pages/changes-page.ts';
import { configPage } from './pages/config-page.ts';
import { errorPages } from './pages/error-page.ts';
import { favicon } from './pages/layout.ts';
import { referencePage } from './pages/reference-page.ts';
import { resourcePage } from './pages/resource-page.ts';
import { searchPage } from './pages/search-page.ts';
import { stationPage } from './pages/station-page.ts';
import { statusPage } from './pages/status-page.ts';
import type { ExporterPort } from './port.ts';
import { checkAccess, checkCrossSite, checkRequest, requestTarget } from './request-checks.ts';
import { type AbortableHandler, limitRequests, RequestQueue } from './request-limit.ts';
import { failedRequest, methodNotAllowed, notFound, redirectTo, sendText, setCommonHeaders } from './respond.ts';
import { literalPath, pathPrefix, ROUTES } from './routes.ts';
import { ScrapeEndpoint, scrapeAll, scrapeOwn, scrapeStation } from './scrape.ts';

/** Limit of concurrent requests to endpoints other than scrapes whose responses may be large or slow, of concurrent reloads and of refreshes on request. */
const MAX_OTHER_REQUESTS = 20;

/** Limit of concurrent searches in all stations: each holds a list of all that it found until the client has read it. */
const MAX_SEARCHES = 4;

/** Limits and compresses the handlers of pages and data. */
type PageHandlers = (handle: AbortableHandler) => readonly RequestHandler[];

type LimitReached = WebObserver['limitReached'];

/** All endpoints of the exporter, at the root and under the path of the external URL. */
export function createApp(exporter: ExporterPort, options: WebOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Outside of production, express sends a stack trace when the error handler itself throws.
  app.set('env', 'production');
  const reached: LimitReached = (...limit) => options.observer?.limitReached(...limit);
  const prefix = pathPrefix(options.externalUrl);
  const healthPaths = new Set([ROUTES.healthy, ROUTES.ready].flatMap((path) => [path, `${prefix}${path}`]));
  app.use(
    checkCrossSite(options),
    checkAccess({ rules: options.access ?? (() => OPEN_ACCESS), reached, openPaths: healthPaths }),
    errorPages(options),
    checkRequest,
  );

  const limitPages = limitRequests(MAX_OTHER_REQUESTS, () => reached('pages'));
  const compress = compression();
  const page: PageHandlers = (handle) => [compress, limitPages(handle)];
  const routes = exporterRoutes(exporter, options, page, reached);
  const pages = stationRoutes(exporter, options, page, reached);
  app.use(routes);
  if (prefix !== '') {
    readOnlyRoute(app, prefix, redirectTo(`${prefix}/`));
    app.use(literalPath(prefix), routes);
  }
  // Last, because the prefix itself may be /stations.
  app.use(pages);
  if (prefix !== '') app.use(literalPath(prefix), pages);
  app.use(notFound, failedRequest(options.report));

  const requests = new RequestQueue();
  return (request, response) => {
    setCommonHeaders(response);
    // Express responds to a target that is not a URL by itself, without the middleware above.
    const target = requestTarget(String(request.url));
    if (target === undefined) {
      response.setHeader('Connection', 'close');
      sendText(response, 400, 'The request target has no path.\n');
      return;
    }
    request.url = target;
    if (healthPaths.has(target)) app(request, response);
    else void exporter.started.then(() => requests.add(() => request.destroyed || app(request, response)));
  };
}

/** The telemetry path comes first, so that no other route can shadow it. */
function exporterRoutes(
  exporter: ExporterPort,
  options: WebOptions,
  page: PageHandlers,
  reached: LimitReached,
): Router {
  const router = newRouter();
  // Each endpoint has its own limits: /metrics is not affected by many probes.
  const endpoint = () => new ScrapeEndpoint(options, reached);
  readOnlyRoute(router, options.telemetryPath, scrapeAll(exporter, endpoint()));
  readOnlyRoute(router, ROUTES.probe, scrapeStation(exporter, endpoint()));
  readOnlyRoute(router, ROUTES.ownMetrics, scrapeOwn(exporter, endpoint()));
  readOnlyRoute(router, ROUTES.discovery, ...page(serviceDiscovery(exporter, options.externalUrl)));
  const configFormats = { text: config(exporter), html: configPage(exporter, options) };
  readOnlyRoute(router, ROUTES.config, ...page(byFormat(configFormats)));
  readOnlyRoute(router, ROUTES.healthy, healthy);
  readOnlyRoute(router, ROUTES.ready, readiness(exporter));
  const status = {
    html: statusPage(exporter, options),
    ...stationList(exporter),
  };
  readOnlyRoute(router, ROUTES.status, ...page(byFormat(status)));
  const search = {
    html: searchPage(exporter, options),
    ...searchData(exporter),
  };
  const limitSearches = limitRequests(MAX_SEARCHES, () => reached('pages'));
  readOnlyRoute(router, ROUTES.search, compression(), limitSearches(byFormat(search)));
  readOnlyRoute(router, ROUTES.reference, ...page(referencePage(options)));
  readOnlyRoute(router, ROUTES.favicon, favicon);
  const limitReloads = limitRequests(MAX_OTHER_REQUESTS, () => reached('reloads'));
  const handleReload = limitReloads(reload(exporter, options.enableLifecycle));
  router.route(ROUTES.reload).post(handleReload).put(handleReload).all(methodNotAllowed('POST, PUT'));
  return router;
}

function stationRoutes(exporter: ExporterPort, options: WebOptions, page: PageHandlers, reached: LimitReached): Router {
  const router = newRouter();
  readOnlyRoute(router, ROUTES.stations, redirectTo('./'));
  const station = { html: stationPage(exporter, options), json: stationData(exporter, options) };
  readOnlyPattern(router, ROUTES.station, ...page(byFormat(station)));
  readOnlyPattern(router, ROUTES.history, ...page(byFormat(historyList(exporter))));
  const changes = { html: changesPage(exporter, options), ...changeList(exporter) };
  readOnlyPattern(router, ROUTES.changes, ...page(byFormat(changes)));
  const limitRefreshes = limitRequests(MAX_OTHER_REQUESTS, () => reached('refreshes'));
  router
    .route(ROUTES.refresh)
    .post(limitRefreshes(refresh(exporter, options)))
    .all(methodNotAllowed('POST'));
  readOnlyPattern(router, ROUTES.resources, ...page(byFormat(resourceList(exporter, options))));
  readOnlyPattern(router, ROUTES.resource, ...page(resourcePage(exporter, options)));
  return router;
}

function newRouter(): Router {
  return express.Router({ caseSensitive: true, strict: true });
}

function readOnlyRoute(router: Pick<IRouter, 'route'>, path: string, ...handlers: RequestHandler[]): void {
  readOnlyPattern(router, literalPath(path), ...handlers);
}

function readOnlyPattern(router: Pick<IRouter, 'route'>, pattern: string, ...handlers: RequestHandler[]): void {
  router
    .route(pattern)
    .get(...handlers)
    .all(methodNotAllowed('GET, HEAD'));
}
