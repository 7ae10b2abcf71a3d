import { createHmac } from 'node:crypto';
import type { SignedHeader } from '../station/signed-headers.ts';
import { httpDateMs } from './request-failure.ts';
import { type Credential, encodeHeader, type Header, type SignableRequest, type Signer } from './signer.ts';

/** Gateways that verify signatures usually tolerate a few minutes; a larger difference than this is worth reporting. */
export const NOTABLE_CLOCK_DIFFERENCE_MS = 60_000;

/** Signs with an access key pair: the signing string has one line per signed header, in the configured order. */
export function hmacSigner(accessKeyId: string, secretAccessKey: Pick<Credential, 'read'>, signedHeaders: readonly SignedHeader[]): Signer {
  return async (request) => {
    const secret = await secretAccessKey.read();
    const signature = createHmac('sha256', secret).update(signingString(signedHeaders, request)).digest('base64');
    const authorization = `hmac accesskey="${accessKeyId}", algorithm="hmac-sha256", headers="${signedHeaders.join(' ')}", signature="${signature}"`;
    return {
      headers: [...dateHeaders(signedHeaders, request.nowMs), encodeHeader('Authorization', authorization)],
      secrets: [secret, signature],
    };
  };
}

/** Describes the clock difference when the reply's `Date` is far from local time, a common cause of rejected signatures. */
export function clockHint(date: string | readonly string[] | undefined, nowMs: number): string | undefined {
  const remoteMs = httpDateMs(String(date));
  if (remoteMs === undefined || Math.abs(remoteMs - nowMs) <= NOTABLE_CLOCK_DIFFERENCE_MS) return undefined;
  const seconds = Math.round(Math.abs(remoteMs - nowMs) / 1000);
  return `the local clock is ${seconds} s ${remoteMs > nowMs ? 'behind' : 'ahead of'} the service's, which is enough to invalidate signatures`;
}

function signingString(signedHeaders: readonly SignedHeader[], { method, host, pathAndQuery, nowMs }: SignableRequest): string {
  const lines: Record<SignedHeader, string> = {
    'x-date': `x-date: ${imfFixdate(nowMs)}`,
    date: `date: ${imfFixdate(nowMs)}`,
    host: `host: ${host}`,
    'request-line': `${method} ${pathAndQuery} HTTP/1.1`,
    '@request-target': `@request-target: ${method.toLowerCase()} ${pathAndQuery}`,
  };
  return signedHeaders.map((entry) => lines[entry]).join('\n');
}

function dateHeaders(signedHeaders: readonly SignedHeader[], nowMs: number): Header[] {
  const names = { 'x-date': 'X-Date', date: 'Date' } as const;
  return (['x-date', 'date'] as const).filter((entry) => signedHeaders.includes(entry)).map((entry) => [names[entry], imfFixdate(nowMs)]);
}

function imfFixdate(timeMs: number): string {
  return new Date(timeMs).toUTCString();
}
