const MAX_EXCERPT_LENGTH = 200;

/** How much of the text an excerpt is made of: it may be mostly white space. */
const MAX_SHOWN_LENGTH = 512;

/** A secret at the end of what is shown continues behind it. */
const MAX_SEARCHED_LENGTH = 2 * MAX_SHOWN_LENGTH;

/** The text as one line of bounded length; a text that repeats a secret is not shown at all. */
export function safeExcerpt(text: string, secrets: readonly string[]): string {
  if (repeatsSecret(text.slice(0, MAX_SEARCHED_LENGTH), secrets)) {
    return 'not shown, because it repeats a secret or a part of one';
  }
  const shown = text.slice(0, MAX_SHOWN_LENGTH).toWellFormed();
  const characters = [...shown.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')];
  const isComplete = characters.length <= MAX_EXCERPT_LENGTH && text.length <= MAX_SHOWN_LENGTH;
  return isComplete ? characters.join('') : `${characters.slice(0, MAX_EXCERPT_LENGTH).join('')}…`;
}

/** Fewer characters of a secret may be shown. */
const PART_LENGTH = 12;

/** Shorter ones occur in other text by chance. */
const MIN_ENCODED_LENGTH = 4;
const MIN_WORD_LENGTH = 6;

/** Longer than any credential; bounds the work for a file that is none. */
const MAX_SECRET_LENGTH = 16 * 1024;

/**
 * Whether a text contains a secret, or any 12 characters in a row of one: in any case; escaped for URLs, HTML or JSON, also several
 * times; in hex; in base64, also within it or twice. Between letters and digits, other characters do not matter.
 */
export function repeatsSecret(text: string, secrets: readonly string[]): boolean {
  const plain = unescaped(text);
  const texts = [plain, ...base64Decodings(plain).map(unescaped)];
  const exact = new SearchedTexts(texts.map(printable));
  const words = new SearchedTexts(texts.map(lettersAndDigits));
  const searched = secrets.map((secret) => secret.slice(0, MAX_SECRET_LENGTH));
  return searched.some(
    (secret) =>
      (secret !== '' && text.includes(secret)) ||
      exact.contains(printable(unescaped(secret)), 1) ||
      words.contains(lettersAndDigits(unescaped(secret)), MIN_WORD_LENGTH) ||
      encodings(secret).some((form) => words.contains(lettersAndDigits(form), MIN_ENCODED_LENGTH)),
  );
}

class SearchedTexts {
  readonly #texts: readonly string[];
  readonly #parts: ReadonlySet<string>;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this.#parts = new Set(texts.flatMap(partsOf));
  }

  /** A part of the form suffices, unless it is shorter than one. */
  contains(form: string, minLength: number): boolean {
    if (form.length < minLength) return false;
    if (form.length < PART_LENGTH) return this.#texts.some((text) => text.includes(form));
    for (let end = PART_LENGTH; end <= form.length; end += 1) {
      if (this.#parts.has(form.slice(end - PART_LENGTH, end))) return true;
    }
    return false;
  }
}

function partsOf(text: string): string[] {
  const count = Math.max(0, text.length - PART_LENGTH + 1);
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PART_LENGTH));
}

/** Without what a message does not show. Form encoding turns a space into a plus sign, so that both count as the same. */
function printable(text: string): string {
  return text
    .replace(/\s/g, '+')
    .replace(/[^!-~]/g, '')
    .toLowerCase();
}

function lettersAndDigits(text: string): string {
  return text.replace(/[^a-z\d]/gi, '').toLowerCase();
}

/** The escapes of ASCII characters in URLs, JSON and HTML. */
const ESCAPES =
  /(?:%|0x|\\x|\\u00)([0-7][\da-f])|&#x0*([0-7][\da-f]);|&#0*(\d{2,3});|&(amp|lt|gt|quot|apos);|\\(["\\/])/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** How often a text may have been escaped. */
const MAX_ESCAPINGS = 5;

/** Secrets are unescaped too: they may look like escapes themselves. */
function unescaped(text: string): string {
  let plain = text.normalize('NFKC');
  for (let pass = 0; pass < MAX_ESCAPINGS; pass += 1) {
    plain = plain.replace(ESCAPES, (_, hex, entityHex, decimal, name, other) => {
      if (name !== undefined) return `${ENTITIES[name.toLowerCase()]}`;
      return other ?? String.fromCharCode(decimal ?? Number.parseInt(hex ?? entityHex, 16));
    });
  }
  return plain;
}

/** Decodes the characters of both alphabets as one sequence, at four offsets: one of them is that of the encoded text. */
function base64Decodings(text: string): string[] {
  const sequence = text.replace(/[^\w+/-]/g, '');
  return [0, 1, 2, 3].map((offset) => Buffer.from(sequence.slice(offset), 'base64').toString('latin1'));
}

/** In hex, and in base64 behind 0, 1 or 2 bytes: the characters that no other byte influences. */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const behind = (offset: number) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/.=+$/, '');
  return [bytes.toString('hex'), behind(0), behind(1).slice(2), behind(2).slice(3)];
}
