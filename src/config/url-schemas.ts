import * as z from 'zod';
import { HIDDEN } from './secret.ts';

/** An address of the service: credentials belong into the keys that are made for them, because those are never shown. */
export const serviceUrl = urlWithout(serviceUrlProblem, (href) => href);

export const proxyUrl = urlWithout(proxyUrlProblem, (href) => href.replace(/:[^:@/]*@/, `:${HIDDEN}@`));

function urlWithout(problemOf: (input: string) => string | undefined, shown: (href: string) => string) {
  return z.codec(z.string({ error: 'an http or https URL' }).meta({ title: 'URL' }), z.instanceof(URL), {
    decode: (input, { issues }) => {
      const message = problemOf(input);
      if (message === undefined) return new URL(input);
      issues.push({ code: 'custom', input, message });
      return z.NEVER;
    },
    // Not `href`: a key that is absent is encoded too, before it is left out.
    encode: (url) => shown(`${url}`),
  });
}

function serviceUrlProblem(input: string): string | undefined {
  if (!isHttpUrl(input)) return 'found a string that is no http or https URL, expected one such as https://host:8443';
  const { username, password } = new URL(input);
  if (username !== '' || password !== '') return 'found a URL with a user or a password, expected none: use basic_auth';
  return /[?#]/.test(input) ? 'found a URL with a query or a fragment, expected neither' : undefined;
}

function proxyUrlProblem(input: string): string | undefined {
  if (!isHttpUrl(input)) return 'found a string that is no http or https URL, expected one such as https://host:8443';
  const { username, password, pathname } = new URL(input);
  if (pathname !== '/' || /[?#]/.test(input)) return 'found a URL with a path, a query or a fragment, expected none of them';
  return isPercentEncoded(username + password) ? undefined : 'found a stray % in the user or the password, expected %25 for it';
}

function isHttpUrl(input: string): boolean {
  return /^https?:\/\//i.test(input) && URL.canParse(input);
}

function isPercentEncoded(input: string): boolean {
  try {
    decodeURIComponent(input);
    return true;
  } catch {
    return false;
  }
}
