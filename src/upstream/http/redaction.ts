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

/** Shorter words occur in other text by chance. */
const MIN_WORD_LENGTH = 4;

/** Longer than any credential; bounds the work for a file that is none. */
const MAX_SECRET_LENGTH = 16 * 1024;

/**
 * Whether a text contains a secret, or any 12 characters in a row of one: in any case; escaped for URLs, HTML or JSON, also several
 * times; in hex; in base64, also within it or twice. Between letters and digits, other characters do not matter.
 */
export function repeatsSecret(text: string, secrets: readonly string[]): boolean {
  const plain = unescaped(text);
  const plains = [plain, ...base64Decodings(plain).map(unescaped)];
  const searched = [text, ...plains.map(printable), ...plains.map(lettersAndDigits)].join('\n');
  const parts = new Set(partsOf(searched));
  const isFound = (form: string) =>
    form.length < PART_LENGTH ? searched.includes(form) : partsOf(form).some((part) => parts.has(part));
  return secrets.flatMap((secret) => secretForms(secret.slice(0, MAX_SECRET_LENGTH))).some(isFound);
}

function partsOf(text: string): string[] {
  const count = Math.max(0, text.length - PART_LENGTH + 1);
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PART_LENGTH));
}

/** As it is, and as it would be found in a text that contains it: also in hex, and in base64 behind 0, 1 or 2 bytes. */
function secretForms(secret: string): string[] {
  const plain = unescaped(secret);
  const bytes = Buffer.from(secret);
  // Without the characters that other bytes influence.
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(Math.ceil((offset * 4) / 3))
      .replace(/.=+$/, ''),
  );
  const words = [plain, bytes.toString('hex'), ...base64].map(lettersAndDigits);
  return [
    ...[secret, printable(plain)].filter((form) => form !== ''),
    ...words.filter(({ length }) => length >= MIN_WORD_LENGTH),
  ];
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
