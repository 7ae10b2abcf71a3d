import type { RequestHandler } from 'express';
import { requireNoParameters } from './data.ts';
import type { ExporterPort } from './port.ts';
import type { AbortableHandler, PageRenderer } from './request-limit.ts';
import { RequestError, sendText } from './respond.ts';

export const healthy: RequestHandler = (_request, response) => {
  sendText(response, 200, 'Healthy.\n');
};

export function readiness(exporter: ExporterPort): RequestHandler {
  return (_request, response) => {
    if (exporter.ready()) sendText(response, 200, 'Ready.\n');
    else sendText(response, 503, 'Not ready: some stations have not been tried yet.\n');
  };
}

/** A rejected configuration is an error of the operator: 400, with every problem. */
export function reload(exporter: ExporterPort, enabled: boolean): AbortableHandler {
  return async (_request, response) => {
    if (!enabled) throw new RequestError(403, 'The lifecycle API is not enabled (--web.enable-lifecycle).\n');
    const problems = await exporter.reload();
    if (problems.length === 0) sendText(response, 200, 'Configuration reloaded.\n');
    else sendText(response, 400, problems.map((problem) => `${problem}\n`).join(''));
  };
}

/** Plain text, because browsers download a response of type YAML. */
export function config(exporter: ExporterPort): PageRenderer {
  return (request, response) => {
    requireNoParameters(request);
    sendText(response, 200, exporter.configuration());
  };
}
