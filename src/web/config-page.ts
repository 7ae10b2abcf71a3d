import type { RequestHandler } from 'express';
import type { ExporterPort } from './port.ts';
import { sendText } from './respond.ts';

/** As plain text, so that a browser shows it instead of saving it. */
export function configPage(exporter: ExporterPort): RequestHandler {
  return (_request, response) => sendText(response, 200, exporter.configuration());
}
