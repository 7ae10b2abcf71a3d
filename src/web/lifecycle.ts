import type { RequestHandler } from 'express';
import type { ExporterPort } from './port.ts';
import { sendText } from './respond.ts';

export const healthy: RequestHandler = (_request, response) => {
  sendText(response, 200, 'Healthy.\n');
};

export function readiness(exporter: ExporterPort): RequestHandler {
  return (_request, response) => {
    if (exporter.ready()) sendText(response, 200, 'Ready.\n');
    else sendText(response, 503, 'Not ready: some stations were not tried yet.\n');
  };
}

/** A rejected configuration is the operator's mistake, not ours: the reasons go back to whoever asked. */
export function reload(exporter: ExporterPort, enabled: boolean): RequestHandler {
  return async (_request, response) => {
    if (!enabled) {
      sendText(response, 403, 'Reloading over HTTP is not enabled (--web.enable-lifecycle).\n');
      return;
    }
    const problems = await exporter.reload();
    if (problems.length === 0) sendText(response, 200, 'Configuration reloaded.\n');
    else sendText(response, 400, problems.map((problem) => `${problem}\n`).join(''));
  };
}
