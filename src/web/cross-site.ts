import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { sendText } from './respond.ts';

export interface CrossSiteOptions {
  /** Names that the Host header may have; empty: any. */
  readonly allowedHosts: readonly string[];
  readonly externalUrl?: URL;
}

/**
 * Rejects what a page of another site can make a browser send: a foreign Host header (DNS rebinding), and requests of other origins by
 * methods that change state. Browsers send Sec-Fetch-Site, older ones Origin; other clients send neither.
 */
export function checkCrossSite({ allowedHosts, externalUrl }: CrossSiteOptions): RequestHandler {
  const isAllowedHost = hostFilter([...allowedHosts, ...(externalUrl ? [externalUrl.hostname] : [])]);
  return ({ method, headers, rawHeaders }, response, next) => {
    // A proxy in front may have read the other one.
    if (countOf('host', rawHeaders) > 1) {
      response.setHeader('Connection', 'close');
      sendText(response, 400, 'Expected one Host header.\n');
    } else if (allowedHosts.length > 0 && !isAllowedHost(headers.host ?? '')) {
      response.setHeader('Connection', 'close');
      sendText(response, 403, 'The host name is not allowed (--web.allowed-hosts).\n');
    } else if (!SAFE_METHODS.has(method) && isCrossOrigin(headers, externalUrl)) {
      response.setHeader('Connection', 'close');
      sendText(response, 403, 'Requests of other sites are not allowed.\n');
    } else {
      next();
    }
  };
}

/** Methods that never change state. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

function countOf(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}

/** DNS rebinding needs a name of the attacker's domain, so addresses and localhost are always allowed. */
function hostFilter(names: readonly string[]): (host: string) => boolean {
  const allowed = new Set(['localhost', ...names.map(hostName)]);
  return (host) => {
    const name = hostName(host);
    return allowed.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  };
}

/** The name in a Host header, without port and the final dot of an absolute name; '' when it is malformed. */
function hostName(host: string): string {
  const url = `http://${host}`;
  return /^[^\s/?#@]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

function isCrossOrigin(
  { host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders & { readonly 'sec-fetch-site'?: string | undefined },
  externalUrl: URL | undefined,
): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  // A reverse proxy may replace the Host header, and the scheme is unknown behind it.
  return !URL.canParse(origin) || ![host, externalUrl?.host].includes(new URL(origin).host);
}
