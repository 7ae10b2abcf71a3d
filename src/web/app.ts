import type { RequestListener } from 'node:http';
import express, { type IRouter, type RequestHandler, type Router } from 'express';
import { OPEN_ACCESS } from './access/rules.ts';
import { serviceDiscovery } from './discovery.ts';
import { internalError, methodNotAllowed, notFound } from './errors.ts';
import { healthy, readiness, reload } from './lifecycle.ts';
import type { WebOptions } from './options.ts';
import { configPage, referencePage } from './pages/reference-page.ts';
import { resourcePage } from './pages/resource-page.ts';
import { stationPage } from './pages/station-page.ts';
import { statusPage } from './pages/status-page.ts';
import type { ExporterPort } from './port.ts';
import { guard, requestLimit, requestTarget, wellFormedRequest } from './request-checks.ts';
import { redirectTo, sendText, setCommonHeaders } from './respond.ts';
import { literalPath, pathPrefix, ROUTES } from './routes.ts';
import { scrapeAll, scrapeStation } from './scrape.ts';

/** Answers beside scrapes that may be large or take a while: so many at once, however slowly they are read. */
const MAX_OTHERS = 20;

/** Everything the exporter answers over HTTP, at the root and again under the external URL's path. */
export function createApp(exporter: ExporterPort, options: WebOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Outside of production express shows stack traces should the error handler itself fail.
  app.set('env', 'production');
  app.use(wellFormedRequest, guard(options.access ?? (() => OPEN_ACCESS)));

  const others = requestLimit(MAX_OTHERS);
  const prefix = pathPrefix(options.externalUrl);
  const routes = exporterRoutes(exporter, options, others);
  const pages = stationRoutes(exporter, options, others);
  app.use(routes);
  if (prefix !== '') {
    allowReading(app, prefix, redirectTo(`${prefix}/`));
    app.use(literalPath(prefix), routes);
  }
  // After both: the prefix may be called as the stations' pages are.
  app.use(pages);
  if (prefix !== '') app.use(literalPath(prefix), pages);
  app.use(notFound, internalError(options.report));

  return (request, response) => {
    setCommonHeaders(response);
    // Express would answer a target that is no URL by itself, past all that was put in its way above.
    const target = requestTarget(String(request.url));
    if (target === undefined) {
      sendText(response, 400, 'The request names no path.\n');
      return;
    }
    request.url = target;
    app(request, response);
  };
}

/** The telemetry path comes first: whatever it is, a scrape of it is answered. */
function exporterRoutes(exporter: ExporterPort, options: WebOptions, others: RequestHandler): Router {
  const router = newRouter();
  const scrapes = requestLimit(options.maxRequests);
  allowReading(router, options.telemetryPath, scrapes, scrapeAll(exporter, options));
  allowReading(router, ROUTES.probe, scrapes, scrapeStation(exporter, options));
  allowReading(router, ROUTES.discovery, others, serviceDiscovery(exporter, options.externalUrl));
  allowReading(router, ROUTES.config, others, configPage(exporter));
  allowReading(router, ROUTES.healthy, healthy);
  allowReading(router, ROUTES.ready, readiness(exporter));
  allowReading(router, ROUTES.status, others, statusPage(exporter, options));
  allowReading(router, ROUTES.reference, others, referencePage(options));
  const reloading = reload(exporter, options.enableLifecycle);
  router.route(ROUTES.reload).post(others, reloading).put(others, reloading).all(methodNotAllowed('POST, PUT'));
  return router;
}

function stationRoutes(exporter: ExporterPort, options: WebOptions, others: RequestHandler): Router {
  const router = newRouter();
  allowReadingPattern(router, ROUTES.station, others, stationPage(exporter, options));
  allowReadingPattern(router, ROUTES.resource, others, resourcePage(exporter, options));
  return router;
}

function newRouter(): Router {
  return express.Router({ caseSensitive: true, strict: true });
}

function allowReading(router: Pick<IRouter, 'route'>, path: string, ...handlers: RequestHandler[]): void {
  allowReadingPattern(router, literalPath(path), ...handlers);
}

function allowReadingPattern(router: Pick<IRouter, 'route'>, pattern: string, ...handlers: RequestHandler[]): void {
  router
    .route(pattern)
    .get(...handlers)
    .all(methodNotAllowed('GET, HEAD'));
}
