import express, { type Express, type IRouter, type RequestHandler, type Router } from 'express';
import { configPage } from './config-page.ts';
import { serviceDiscovery } from './discovery.ts';
import { internalError, methodNotAllowed, notFound, wellFormedUrl } from './errors.ts';
import { healthy, readiness, reload } from './lifecycle.ts';
import { scrapeLimit } from './limits.ts';
import type { WebOptions } from './options.ts';
import type { ExporterPort } from './port.ts';
import { literalPath, pathPrefix } from './prefix.ts';
import { commonHeaders, redirectTo } from './respond.ts';
import { scrapeAll, scrapeStation } from './scrape.ts';
import { statusPage } from './status-page.ts';

/** Everything the exporter answers over HTTP, at the root and again under the external URL's path. */
export function createApp(exporter: ExporterPort, options: WebOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Outside of production express shows stack traces should the error handler itself fail.
  app.set('env', 'production');
  app.use(commonHeaders, wellFormedUrl);

  const routes = exporterRoutes(exporter, options);
  app.use(routes);
  const prefix = pathPrefix(options.externalUrl);
  if (prefix !== '') {
    allowReading(app, prefix, redirectTo(`${prefix}/`));
    app.use(literalPath(prefix), routes);
  }
  app.use(notFound, internalError(options.report));
  return app;
}

/** The telemetry path comes first: whatever it is, a scrape of it is answered. */
function exporterRoutes(exporter: ExporterPort, options: WebOptions): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const limit = scrapeLimit(options.maxRequests);
  allowReading(router, options.telemetryPath, limit, scrapeAll(exporter, options));
  allowReading(router, '/probe', limit, scrapeStation(exporter, options));
  allowReading(router, '/sd', serviceDiscovery(exporter, options.externalUrl));
  allowReading(router, '/config', configPage(exporter));
  allowReading(router, '/-/healthy', healthy);
  allowReading(router, '/-/ready', readiness(exporter));
  allowReading(router, '/', statusPage(exporter, options));
  const reloading = reload(exporter, options.enableLifecycle);
  router.route('/-/reload').post(reloading).put(reloading).all(methodNotAllowed('POST, PUT'));
  return router;
}

function allowReading(router: Pick<IRouter, 'route'>, path: string, ...handlers: RequestHandler[]): void {
  router
    .route(literalPath(path))
    .get(...handlers)
    .all(methodNotAllowed('GET, HEAD'));
}
