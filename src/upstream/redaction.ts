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

/** The user information of a proxy's URL as Basic credentials; undefined without any. */
export function userInformation({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(decodeURIComponent(`${username}:${password}`)).toString('base64');
}

/** What a reply may repeat of the password of a proxy, or of a token that stands for the user name. */
export function proxySecrets(proxyUrl: URL | undefined): string[] {
  const sent = proxyUrl && userInformation(proxyUrl);
  if (proxyUrl === undefined || sent === undefined) return [];
  const secret = proxyUrl.password === '' ? proxyUrl.username : proxyUrl.password;
  return [secret, decodeURIComponent(secret), sent];
}

/** Fewer characters of a secret may be shown. */
const PART_LENGTH = 12;

/** Shorter words occur in other text by chance. */
const MIN_WORD_LENGTH = 4;

/** Longer than any credential; bounds the work for a file that is none. */
const MAX_SECRET_LENGTH = 16 * 1024;

/** How URLs, HTML and JSON escape a character that is neither a letter nor a digit; a hex dump may have 0x before each byte. */
const ESCAPES = [/%[\da-f]{2}/gi, /&#?\w+;/g, /\\(u[\da-f]{4}|.)/gi, /0x/gi];

/**
 * Whether a text contains a secret, or any 12 characters in a row of one: in any case; escaped once, for URLs, HTML or JSON; in hex or
 * base64. Between letters and digits, other characters do not matter.
 */
export function repeatsSecret(text: string, secrets: readonly string[]): boolean {
  const unescaped = ESCAPES.map((escaped) => text.replace(escaped, MASK));
  const searched = [text, ...[text, ...unescaped].flatMap(comparable)].join('\n');
  const parts = new Set(secretPartsOf(searched));
  const isFound = (form: string) =>
    form.length < PART_LENGTH ? searched.includes(form) : secretPartsOf(form).some((part) => parts.has(part));
  return secrets.flatMap((secret) => secretForms(secret.slice(0, MAX_SECRET_LENGTH))).some(isFound);
}

function secretPartsOf(text: string): string[] {
  const count = Math.max(0, text.length - PART_LENGTH + 1);
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PART_LENGTH));
}

/** As it is, in hex, and in base64 behind any number of other bytes. */
function secretForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Without the character that bytes behind it influence.
  const base64 = [0, 1, 2].map((start) => bytes.subarray(start).toString('base64').replace(/.=+$/, ''));
  const words = [secret, bytes.toString('hex'), ...base64]
    .map(comparable)
    .filter(([, word]) => word.length >= MIN_WORD_LENGTH);
  return [secret, ...words.flat()].filter((form) => form !== '');
}

/** Stands for a character that is neither a letter nor a digit. */
const MASK = '.';

/** In lower case, with and without what stands for other characters. */
function comparable(text: string): [string, string] {
  const masked = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z\d]/g, MASK);
  return [masked, masked.replaceAll(MASK, '')];
}
