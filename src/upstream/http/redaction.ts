const HIDDEN = '<secret>';

/** What a message shows is shorter. */
export const MAX_REDACTED_BYTES = 1024;

/** How much an encoded secret may be longer than the secret. */
const MAX_GROWTH = 6;

/** How often in a row a secret may have been encoded. */
const MAX_ENCODINGS = 2;

/** Shorter secrets occur in decoded text by chance. */
const MIN_ENCODED_LENGTH = 4;

/**
 * The start of a text with its secrets hidden: as they are, percent-encoded, escaped for HTML or JSON, in base64, alone or as a part
 * of it, and any two of these one after the other. Decodes the text instead of encoding the secrets, because an encoder chooses
 * which characters it escapes, and how.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const searched = secrets.filter((secret) => secret !== '').map((secret) => comparable(utf8(secret)));
  // A secret at the end continues behind it.
  const margin = MAX_GROWTH * Math.max(0, ...searched.map((secret) => secret.length));
  const bytes = Buffer.from(text).subarray(0, MAX_REDACTED_BYTES + margin);
  const plain = { text: bytes.toString('latin1'), origin: (start: number, end: number) => ({ start, end }) };
  const pieces: (Buffer | string)[] = [];
  let at = 0;
  for (const { start, end } of [...matches(searched, plain, MAX_ENCODINGS)].sort((a, b) => a.start - b.start)) {
    if (start >= MAX_REDACTED_BYTES) break;
    if (start >= at) pieces.push(bytes.subarray(at, start), HIDDEN);
    at = Math.max(at, end);
  }
  pieces.push(bytes.subarray(at, Math.max(at, MAX_REDACTED_BYTES)));
  return pieces.join('');
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Decoded {
  /** One character per byte of UTF-8. */
  readonly text: string;
  /** The part of the original text that a part of this one was decoded from. */
  readonly origin: (start: number, end: number) => Span;
}

/** Form encoding turns a space into a plus sign, so that both count as the same. */
function comparable(bytes: string): string {
  return bytes.replaceAll('+', ' ');
}

function* matches(secrets: readonly string[], decoded: Decoded, encodings: number): Iterable<Span> {
  const text = comparable(decoded.text);
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
      yield decoded.origin(at, at + secret.length);
    }
  }
  const long = secrets.filter((secret) => secret.length >= MIN_ENCODED_LENGTH);
  if (encodings === 0 || long.length === 0) return;
  for (const decode of DECODERS) for (const inner of decode(decoded)) yield* matches(long, inner, encodings - 1);
}

/** Yields nothing when there is nothing to decode. */
type Decoder = (encoded: Decoded) => Iterable<Decoded>;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const DECODERS: readonly Decoder[] = [
  unescaper(/%([\da-f]{2})/gi, (byte) => String.fromCharCode(Number(`0x${byte}`))),
  unescaper(/&(?:#x0*([\da-f]{1,6})|#0*(\d{1,7})|(amp|lt|gt|quot|apos));?/gi, (hex, decimal, name) =>
    name === undefined ? codePoint(Number(decimal ?? `0x${hex}`)) : `${ENTITIES[name.toLowerCase()]}`,
  ),
  unescaper(
    /\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/gi,
    (high, low, unit, byte, other) => {
      if (high !== undefined) return utf8(String.fromCharCode(Number(`0x${high}`), Number(`0x${low}`)));
      return other === undefined ? codePoint(Number(`0x${unit ?? byte}`)) : (ESCAPES[other] ?? other);
    },
  ),
  base64Decodings,
];

type Groups = readonly (string | undefined)[];

function unescaper(pattern: RegExp, bytesOf: (...groups: Groups) => string): Decoder {
  return function* ({ text, origin }) {
    const decoded = text.replace(pattern, (_, ...groups) => bytesOf(...groups));
    if (decoded === text) return;
    yield {
      text: decoded,
      origin: (start, end) => {
        // Counts the bytes, escape by escape, up to the start and the end.
        let [at, behind, first, last] = [0, 0, 0, text.length];
        const advance = (length: number, bytes: number, isEscape: boolean) => {
          if (start >= behind && start < behind + bytes) first = isEscape ? at : at + start - behind;
          if (end > behind && end <= behind + bytes) last = isEscape ? at + length : at + end - behind;
          at += length;
          behind += bytes;
        };
        for (const match of text.matchAll(pattern)) {
          advance(match.index - at, match.index - at, false);
          advance(match[0].length, bytesOf(...match.slice(1)).length, true);
        }
        advance(text.length - at, text.length - at, false);
        return origin(first, last);
      },
    };
  };
}

/**
 * Decodes all characters of both alphabets as one sequence, so that line breaks, padding and the text around it do not matter: one of
 * the four offsets is that of the secret.
 */
function* base64Decodings({ text, origin }: Decoded): Iterable<Decoded> {
  const sequence = text.replace(/[^\w+/-]+/g, '');
  for (const offset of [0, 1, 2, 3]) {
    yield {
      text: Buffer.from(sequence.slice(offset), 'base64').toString('latin1'),
      origin: (start, end) => {
        const places = Array.from(text.matchAll(/[\w+/-]/g), ({ index }) => index).slice(offset);
        // Four characters are three bytes: each byte is in two characters.
        const place = (byte: number) => Math.floor((byte * 4) / 3);
        return origin(places[place(start)] as number, (places[place(end - 1) + 1] as number) + 1);
      },
    };
  }
}

/** Empty for a number that is no code point. */
function codePoint(value: number): string {
  return value > 0x10_ffff ? '' : utf8(String.fromCodePoint(value));
}

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}
