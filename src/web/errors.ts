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

/** Bad escapes would otherwise be read as if they were meant literally. */
export const wellFormedUrl: RequestHandler = (request, response, next) => {
  if (isWellFormed(request.url)) next();
  else sendText(response, 400, 'The URL holds a malformed percent-encoding.\n');
};

/** What arrives here is a bug of ours: the caller is told, the client learns nothing of it. */
export function internalError(report: (error: unknown) => void): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    report(error);
    if (response.headersSent) response.destroy();
    else sendText(response, 500, 'Internal error.\n');
  };
}

function isWellFormed(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
