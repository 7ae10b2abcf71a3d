import type { RequestListener } from 'node:http';
import express, { type IRouter, type RequestHandler, type Router } from 'express';
import { OPEN_ACCESS } from './access/rules.ts';
import { serviceDiscovery } from './discovery.ts';
import { config, healthy, readiness, reload } from './lifecycle.ts';
import type { WebOptions } from './options.ts';
import { referencePage } from './pages/reference-page.ts';
import { resourcePage } from './pages/resource-page.ts';
import { stationPage } from './pages/station-page.ts';
import { statusPage } from './pages/status-page.ts';
import type { ExporterPort } from './port.ts';
import { checkAccess, checkRequest, limitRequests, requestTarget } from './request-checks.ts';
import { internalError, methodNotAllowed, notFound, redirectTo, sendText, setCommonHeaders } from './respond.ts';
import { literalPath, pathPrefix, ROUTES } from './routes.ts';
import { scrapeAll, scrapeStation } from './scrape.ts';

/** Limit of concurrent requests to endpoints other than scrapes whose responses may be large or slow. */
const MAX_OTHER_REQUESTS = 20;

/** All endpoints of the exporter, at the root and under the path of the external URL. */
export function createApp(exporter: ExporterPort, options: WebOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Outside of production, express sends a stack trace when the error handler itself throws.
  app.set('env', 'production');
  app.use(checkRequest, checkAccess(options.access ?? (() => OPEN_ACCESS)));

  const otherLimit = limitRequests(MAX_OTHER_REQUESTS);
  const prefix = pathPrefix(options.externalUrl);
  const routes = exporterRoutes(exporter, options, otherLimit);
  const pages = stationRoutes(exporter, options, otherLimit);
  app.use(routes);
  if (prefix !== '') {
    readOnlyRoute(app, prefix, redirectTo(`${prefix}/`));
    app.use(literalPath(prefix), routes);
  }
  // Last, because the prefix itself may be /stations.
  app.use(pages);
  if (prefix !== '') app.use(literalPath(prefix), pages);
  app.use(notFound, internalError(options.report));

  return (request, response) => {
    setCommonHeaders(response);
    // Express responds to a target that is not a URL by itself, without the middleware above.
    const target = requestTarget(String(request.url));
    if (target === undefined) {
      sendText(response, 400, 'The request target has no path.\n');
      return;
    }
    request.url = target;
    app(request, response);
  };
}

/** The telemetry path comes first, so that no other route can shadow it. */
function exporterRoutes(exporter: ExporterPort, options: WebOptions, otherLimit: RequestHandler): Router {
  const router = newRouter();
  const scrapeLimit = limitRequests(options.maxRequests);
  readOnlyRoute(router, options.telemetryPath, scrapeLimit, scrapeAll(exporter, options));
  readOnlyRoute(router, ROUTES.probe, scrapeLimit, scrapeStation(exporter, options));
  readOnlyRoute(router, ROUTES.discovery, otherLimit, serviceDiscovery(exporter, options.externalUrl));
  readOnlyRoute(router, ROUTES.config, otherLimit, config(exporter));
  readOnlyRoute(router, ROUTES.healthy, healthy);
  readOnlyRoute(router, ROUTES.ready, readiness(exporter));
  readOnlyRoute(router, ROUTES.status, otherLimit, statusPage(exporter, options));
  readOnlyRoute(router, ROUTES.reference, otherLimit, referencePage(options));
  const handleReload = reload(exporter, options.enableLifecycle);
  router.route(ROUTES.reload).post(otherLimit, handleReload).put(otherLimit, handleReload).all(methodNotAllowed('POST, PUT'));
  return router;
}

function stationRoutes(exporter: ExporterPort, options: WebOptions, otherLimit: RequestHandler): Router {
  const router = newRouter();
  readOnlyPattern(router, ROUTES.station, otherLimit, stationPage(exporter, options));
  readOnlyPattern(router, ROUTES.resource, otherLimit, resourcePage(exporter, options));
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
