import type { RequestHandler } from 'express';
import { REFRESH_COLUMNS } from '../status/station-columns.ts';
import { untilAborted } from '../tasks/until-aborted.ts';
import { fieldsOf, jsonText } from '../text/records.ts';
import { stationOf } from './data.ts';
import type { ExporterPort, WebOptions } from './port.ts';
import type { AbortableHandler, PageRenderer } from './request-limit.ts';
import { prefersHtml, RequestError, send, sendText } from './respond.ts';
import { stationPath } from './routes.ts';

export const healthy: RequestHandler = (_request, response) => {
  sendText(response, 200, 'Healthy.\n');
};

export function readiness(exporter: ExporterPort): RequestHandler {
  return (_request, response) => {
    if (exporter.ready()) sendText(response, 200, 'Ready.\n');
    else sendText(response, 503, 'Not ready: some stations have not been tried yet.\n');
  };
}

function requireLifecycle(enabled: boolean): void {
  if (!enabled) throw new RequestError(403, 'The lifecycle API is not enabled (--web.enable-lifecycle).\n');
}

/** A rejected configuration is an error of the operator: 400, with every problem. */
export function reload(exporter: ExporterPort, enabled: boolean): AbortableHandler {
  return async (_request, response) => {
    requireLifecycle(enabled);
    const problems = await exporter.reload();
    if (problems.length === 0) sendText(response, 200, 'Configuration reloaded.\n');
    else sendText(response, 400, problems.map((problem) => `${problem}\n`).join(''));
  };
}

/** Plain text, because browsers download a response of type YAML. */
export function config(exporter: ExporterPort): PageRenderer {
  return (_request, response) => sendText(response, 200, exporter.configuration());
}

/**
 * Refreshes a station and waits for the outcome as long as a scrape would. Browsers are redirected to the page of the station, which shows it;
 * a failed refresh is an outcome too, not an error of the request.
 */
export function refresh(exporter: ExporterPort, { enableLifecycle, scrapeTimeoutMs }: WebOptions): AbortableHandler {
  return async (request, response, signal) => {
    requireLifecycle(enableLifecycle);
    const station = stationOf(exporter, request).spec.name;
    const requested = exporter.refresh(station);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(scrapeTimeoutMs)]);
    // undefined: the refresh, which never rejects, has not ended in time.
    const outcome = requested?.ok ? await untilAborted(requested.ended, limit).catch(() => undefined) : undefined;
    if (prefersHtml(request)) {
      response.setHeader('Location', `../../${stationPath(station)}${new URL(request.url, 'http://host').search}`);
      sendText(response, 303, 'See the page of the station.\n');
    } else if (requested?.ok === false) {
      response.setHeader('Retry-After', Math.ceil(requested.waitMs / 1000));
      sendText(response, 429, 'The station was refreshed on request a few seconds ago.\n');
    } else {
      const fields = outcome ? fieldsOf(REFRESH_COLUMNS, outcome) : { refreshing: true };
      send(response, outcome ? 200 : 202, 'application/json', `${jsonText({ station, ...fields })}\n`);
    }
  };
}
