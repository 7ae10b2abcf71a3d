import type { ErrorRequestHandler, RequestHandler } from 'express';
import { sendText } from './respond.ts';

export const notFound: RequestHandler = (_request, response) => {
  sendText(response, 404, 'Not found.\n');
};

export function methodNotAllowed(allow: string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Allow', allow);
    sendText(response, 405, `Method not allowed; allowed: ${allow}.\n`);
  };
}

/** What arrives here is a bug of ours: the caller is told, the client learns nothing of it. */
export function internalError(report: (error: unknown) => void): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    report(error);
    if (response.headersSent) response.destroy();
    else sendText(response, 500, 'Internal error.\n');
  };
}
