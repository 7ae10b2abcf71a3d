import { createHash, randomBytes } from 'node:crypto';
import { isObject, labelText, type RecordField } from '../model/resource.ts';

/** Replaces text of unknown content. */
const INVALID = 'unreadable';

/** Replaces ids and names; valid values stay valid and invalid ones invalid. Unknown fields are dropped, because their content is unknown. */
export function anonymizeRecord(record: unknown, pseudonyms: Pseudonyms): unknown {
  return anonymizeObject(record, FIELDS, pseudonyms);
}

/** For listings that only need the ids. */
export function anonymizeId(record: unknown, pseudonyms: Pseudonyms): unknown {
  return anonymizeObject(record, { resource_id: replaceName }, pseudonyms);
}

export function anonymizePage(page: unknown, pseudonyms: Pseudonyms): Readonly<Record<string, unknown>> | null {
  const fields = { offset: keepCount, size: keepCount, total: keepCount };
  return isObject(page) ? anonymizeFields(page, fields, pseudonyms) : null;
}

type Anonymizer = (value: unknown, pseudonyms: Pseudonyms) => unknown;

const FIELDS: Readonly<Record<RecordField | 'resource_id', Anonymizer>> = {
  resource_type: (value, pseudonyms) => anonymizeObject(value, { key: keepToken, label: keepToken }, pseudonyms),
  resource_id: replaceName,
  create_time: (value) => (typeof value === 'string' && /^[\d:.TtZz +-]*$/.test(value) ? value : keepType(value)),
  sku: keepToken,
  state: keepToken,
  display_name: replaceName,
  alert_rules_count: keepCount,
  name: replaceName,
  gpu_model: keepToken,
};

const FIELD_NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** The fields of a record that are replaced, and those that a recording has as they are. */
export const RECORDED_FIELDS = {
  replaced: FIELD_NAMES.filter((name) => FIELDS[name] === replaceName),
  kept: FIELD_NAMES.filter((name) => FIELDS[name] !== replaceName),
};

type Fields = Readonly<Record<string, Anonymizer>>;

function anonymizeObject(value: unknown, fields: Fields, pseudonyms: Pseudonyms): unknown {
  return isObject(value) ? anonymizeFields(value, fields, pseudonyms) : keepType(value);
}

/** A missing field stays missing. */
function anonymizeFields(
  value: Readonly<Record<string, unknown>>,
  fields: Fields,
  pseudonyms: Pseudonyms,
): Readonly<Record<string, unknown>> {
  const present = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(present.map(([name, anonymize]) => [name, anonymize(value[name], pseudonyms)]));
}

/** Truncated as the exporter does, so that names it treats as equal stay equal. */
function replaceName(value: unknown, pseudonyms: Pseudonyms): unknown {
  return typeof value === 'string' ? pseudonyms.of(labelText(value)) : keepType(value);
}

/** Values that cannot hold a name. JSON has no notation for Infinity. */
function keepToken(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' ? value : keepType(value);
}

function keepCount(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : -1;
  return typeof value === 'string' && /^\d+$/.test(value) ? value : keepType(value);
}

/** Keeps only the type of a value. */
function keepType(value: unknown): unknown {
  if (typeof value === 'string') return INVALID;
  if (typeof value === 'number') return 0;
  if (Array.isArray(value)) return [];
  return isObject(value) ? {} : value;
}

/** Fixed parts of a resource path. */
const PATH_WORDS = ['subscriptions', 'resourceGroups', 'zones', 'telemetryStations', 'providers', 'resources'];

/** Before a longer name is tried. */
const MAX_ATTEMPTS = 8;

/**
 * Maps names one-to-one to random names with the same length, punctuation and character classes, and the same length in bytes.
 * Without the salt, a guessed name cannot be verified.
 */
export class Pseudonyms {
  readonly #salt: Uint8Array;
  readonly #pseudonyms = new Map<string, string>();
  readonly #used = new Set<string>(PATH_WORDS);

  constructor(salt: Uint8Array = randomBytes(32)) {
    this.#salt = salt;
  }

  /** Part by part, so that paths with a common prefix keep one. */
  of(text: string): string {
    return text
      .split('/')
      .map((part) => (part === '' || PATH_WORDS.includes(part) ? part : this.#ofPart(part)))
      .join('/');
  }

  #ofPart(part: string): string {
    const known = this.#pseudonyms.get(part);
    if (known !== undefined) return known;
    let pseudonym = '';
    for (let attempt = 0; pseudonym === '' || this.#used.has(pseudonym); attempt += 1) {
      pseudonym = this.#randomLike(`${part}${'a'.repeat(Math.max(0, attempt - MAX_ATTEMPTS))}`, `${attempt} ${part}`);
    }
    this.#pseudonyms.set(part, pseudonym);
    this.#used.add(pseudonym);
    return pseudonym;
  }

  /** Each character becomes one of its class; punctuation, spaces and control characters stay. */
  #randomLike(template: string, key: string): string {
    const hash = createHash('shake256', { outputLength: 2 * template.length });
    const bytes = hash.update(this.#salt).update(key).digest();
    return Array.from(template, (character, at) => {
      const [first, count] = rangeOf(character, character.codePointAt(0) as number);
      return String.fromCodePoint(first + (bytes.readUInt16LE(2 * at) % count));
    }).join('');
  }
}

function rangeOf(character: string, code: number): readonly [first: number, count: number] {
  if (code >= 0x10000) return [0x20000, 40_000];
  if (/[\p{P}\p{Z}\p{Cc}\p{Cf}]/u.test(character) || (code < 0x80 && !/\w/.test(character))) return [code, 1];
  if (code >= 0x800) return [0x4e00, 20_000];
  if (code >= 0x80) return [0xdf, 24];
  if (/\d/.test(character)) return [0x30, 10];
  return [/[a-z]/.test(character) ? 0x61 : 0x41, 26];
}
