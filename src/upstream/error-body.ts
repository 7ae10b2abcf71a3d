const MAX_PRINTED = 200;
const MAX_DETAILS = 3;

/** What the body of an error reply says, in a few words; pages made for people are named, not shown. */
export function describeErrorBody(body: Buffer): string {
  const text = body.toString().trim();
  if (text === '') return 'empty body';
  if (text.startsWith('<')) return `a page of HTML or XML (${body.length} bytes), perhaps from a proxy in between`;
  return statusText(parsed(text)) ?? text;
}

/** A foreign text as a message may show it: one bounded line, without the secrets. */
export function quotable(text: string, secrets: readonly string[]): string {
  const line = withoutSecrets(text, secrets)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .toWellFormed();
  // Once more: what was taken out may have stood inside a secret.
  const characters = [...withoutSecrets(line, secrets)];
  return characters.length <= MAX_PRINTED ? characters.join('') : `${characters.slice(0, MAX_PRINTED).join('')}…`;
}

/** google.rpc.Status, the same under `error`, OAuth's error pair, or a bare message; undefined for any other shape. */
function statusText(json: unknown): string | undefined {
  const status = isRecord(json) && isRecord(json['error']) ? json['error'] : json;
  if (!isRecord(status)) return undefined;
  const reasons = (Array.isArray(status['details']) ? status['details'] : [])
    .flatMap((detail) => (isRecord(detail) ? printable(detail['reason']) : []))
    .slice(0, MAX_DETAILS)
    .map((reason) => `reason ${reason}`);
  const code = printable(status['code']).map((value) => `code ${value}`);
  const words = [status['message'], status['error'], status['error_description']].flatMap(printable);
  const parts = [[...code, ...reasons].join(', '), words.join(', ')].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join(': ');
}

/** The value alone when it can be printed as it is, else nothing. */
function printable(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value !== '' ? [value] : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** As it is and as JSON writes it; the longest first, so that a secret within another one does not leave the rest of it behind. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '<secret>'), text);
}
