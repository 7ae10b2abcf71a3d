import { createHash, randomBytes } from 'node:crypto';
import { labelText, type RecordField } from '../station/resource.ts';
import { isObject } from '../upstream/record.ts';

/** A text that is none of what was expected in its place, whatever it was. */
const UNREADABLE = 'unreadable';

/**
 * A record with other ids and names, as odd as it was: what could be read of it can be read, what could not cannot. Fields that are not
 * known are left out, because nobody can say what they hold.
 */
export function anonymousRecord(record: unknown, pseudonyms: Pseudonyms): unknown {
  return known(record, FIELDS, pseudonyms);
}

/** Of a record whose id is all that counts. */
export function anonymousId(record: unknown, pseudonyms: Pseudonyms): unknown {
  return known(record, { resource_id: pseudonym }, pseudonyms);
}

/** What a page says of the listing; null for anything that says nothing. */
export function anonymousPage(page: unknown, pseudonyms: Pseudonyms): Readonly<Record<string, unknown>> | null {
  return isObject(page) ? pick(page, { offset: count, size: count, total: count }, pseudonyms) : null;
}

type Anonymous = (value: unknown, pseudonyms: Pseudonyms) => unknown;

const FIELDS: Readonly<Record<RecordField | 'resource_id', Anonymous>> = {
  resource_type: (value, pseudonyms) => known(value, { key: token, label: token }, pseudonyms),
  resource_id: pseudonym,
  create_time: (value) => (typeof value === 'string' && /^[\d:.TtZz +-]*$/.test(value) ? value : shape(value)),
  sku: token,
  state: token,
  display_name: pseudonym,
  alert_rules_count: count,
  name: pseudonym,
  gpu_model: token,
};

function known(value: unknown, fields: Readonly<Record<string, Anonymous>>, pseudonyms: Pseudonyms): unknown {
  return isObject(value) ? pick(value, fields, pseudonyms) : shape(value);
}

/** A field that is missing stays missing. */
function pick(
  value: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Anonymous>>,
  pseudonyms: Pseudonyms,
): Readonly<Record<string, unknown>> {
  const there = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(there.map(([name, anonymous]) => [name, anonymous(value[name], pseudonyms)]));
}

/** Cut as the exporter cuts it, so that what it takes for the same stays the same. */
function pseudonym(value: unknown, pseudonyms: Pseudonyms): unknown {
  return typeof value === 'string' ? pseudonyms.of(labelText(value)) : shape(value);
}

/** What may be told as it is. JSON has no words for a number too large to be one. */
function token(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' ? value : shape(value);
}

function count(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : -1;
  return typeof value === 'string' && /^\d+$/.test(value) ? value : shape(value);
}

/** Nothing of a value but what kind it is. */
function shape(value: unknown): unknown {
  if (typeof value === 'string') return UNREADABLE;
  if (typeof value === 'number') return 0;
  if (Array.isArray(value)) return [];
  return isObject(value) ? {} : value;
}

/** The words of a path that say nothing of whose it is. */
const PATH_WORDS = ['subscriptions', 'resourceGroups', 'zones', 'telemetryStations', 'providers', 'resources'];

/** So often another name of the same length is looked for, then a longer one. */
const ATTEMPTS = 8;

/**
 * Names that stand for others: the same one for the same, different ones for different. They have the length, the punctuation and the
 * kinds of characters of what they stand for, and take as many bytes. Nobody without the salt can tell whether a name stands for a guess.
 */
export class Pseudonyms {
  readonly #salt: Uint8Array;
  readonly #known = new Map<string, string>();
  readonly #taken = new Set<string>(PATH_WORDS);

  constructor(salt: Uint8Array = randomBytes(32)) {
    this.#salt = salt;
  }

  /** Part by part of a path, so that what was beside each other still is. */
  of(text: string): string {
    return text
      .split('/')
      .map((part) => (part === '' || PATH_WORDS.includes(part) ? part : this.#ofPart(part)))
      .join('/');
  }

  #ofPart(part: string): string {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    let pseudonym: string;
    let attempt = 0;
    do {
      const shape = `${part}${'a'.repeat(Math.max(0, attempt - ATTEMPTS))}`;
      pseudonym = drawnLike(shape, this.#drawn(part, attempt, shape.length));
      attempt += 1;
    } while (this.#taken.has(pseudonym));
    this.#known.set(part, pseudonym);
    this.#taken.add(pseudonym);
    return pseudonym;
  }

  /** A number for each character. */
  #drawn(part: string, attempt: number, length: number): Uint16Array {
    const hash = createHash('shake256', { outputLength: 2 * length });
    const bytes = hash.update(this.#salt).update(`${attempt} ${part}`).digest();
    return Uint16Array.from({ length }, (_, at) => bytes.readUInt16LE(2 * at));
  }
}

function drawnLike(shape: string, numbers: Uint16Array): string {
  return Array.from(shape, (character, at) => likeCharacter(character, numbers[at] as number)).join('');
}

/** Another character of the same kind; those that write nothing stay. */
function likeCharacter(character: string, number: number): string {
  const [first, count] = rangeOf(character, character.codePointAt(0) as number);
  return String.fromCodePoint(first + (number % count));
}

function rangeOf(character: string, code: number): readonly [first: number, count: number] {
  if (code >= 0x10000) return [0x20000, 40_000];
  if (/[\p{P}\p{Z}\p{Cc}\p{Cf}]/u.test(character) || (code < 0x80 && !/\w/.test(character))) return [code, 1];
  if (code >= 0x800) return [0x4e00, 20_000];
  if (code >= 0x80) return [0xdf, 24];
  if (/\d/.test(character)) return [0x30, 10];
  return [/[a-z]/.test(character) ? 0x61 : 0x41, 26];
}
