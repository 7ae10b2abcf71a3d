import { randomInt } from 'node:crypto';
import { jsonName } from '../model/json-name.ts';
import { isObject, labelText } from '../model/values.ts';
import { FIELDS, type Recorded } from '../resources/fields.ts';

const UNREADABLE = 'unreadable';

/** How a value is recorded: as it is, if it is a number or matches a pattern; as a pseudonym; replaced; or as an object with these fields only, because the content of others is unknown. */
type Anonymizer = Recorded | { readonly [field: string]: Anonymizer };

const DIGITS = /^\d+$/;

/** What is recorded of listings that only need the ids. */
export const ID_RECORD: Anonymizer = inBothSpellings({ resource_id: 'pseudonym' });

export const RECORD: Anonymizer = { ...ID_RECORD, ...inBothSpellings(recordedFields()) };

function inBothSpellings(fields: Readonly<Record<string, Anonymizer>>): Readonly<Record<string, Anonymizer>> {
  const renamed = Object.entries(fields).map(([name, how]) => [jsonName(name), how] as const);
  return { ...fields, ...Object.fromEntries(renamed) };
}

function recordedFields(): Readonly<Record<string, Anonymizer>> {
  const fields: Record<string, Anonymizer> = {};
  for (const { wire, path, recorded } of Object.values(FIELDS)) {
    const part = path.slice(wire.length + 1);
    fields[wire] = part === '' ? recorded : { ...Object(fields[wire]), [part]: recorded };
  }
  return fields;
}

/** What a page of a listing has beside its records. */
export const ENVELOPE = { page: { offset: DIGITS, size: DIGITS, total: DIGITS } };

/** Replaces ids and names; valid values stay valid and invalid ones invalid; of those, only numbers and the type are kept. A missing field stays missing. */
export function anonymized(value: unknown, how: Anonymizer, pseudonyms: Pseudonyms): unknown {
  const pattern = how instanceof RegExp ? how : undefined;
  if (typeof value === 'string') {
    // Truncated as the exporter does, so that names it treats as equal stay equal.
    if (how === 'pseudonym') return pseudonyms.of(labelText(value));
    return pattern?.test(value) ? value : UNREADABLE;
  }
  if (typeof value === 'number') {
    if (pattern === undefined) return 0;
    // JSON has no notation for Infinity. A fraction is invalid in the same fields; a state may be any number.
    return Number.isFinite(value) ? value : Number.MIN_VALUE;
  }
  if (Array.isArray(value)) return [];
  if (!isObject(value)) return value;
  const fields = typeof how !== 'object' || how instanceof RegExp ? {} : how;
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(fields, name));
  return Object.fromEntries(known.map(([name, part]) => [name, anonymized(part, fields[name], pseudonyms)]));
}

const PATH_WORDS = ['subscriptions', 'resourceGroups', 'zones', 'telemetryStations', 'providers', 'resources'];

/** So many names of a length are tried before a longer one. */
const MAX_ATTEMPTS = 8;

/**
 * Maps names one-to-one to random names with the same length, punctuation and character classes, and the same length in bytes.
 * Nothing of a name but this is in its pseudonym, so that a guessed name cannot be verified.
 */
export class Pseudonyms {
  readonly #randomBelow: (limit: number) => number;
  readonly #pseudonyms = new Map<string, string>();
  readonly #used = new Set<string>(PATH_WORDS);

  constructor(randomBelow: (limit: number) => number = randomInt) {
    this.#randomBelow = randomBelow;
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
      pseudonym = this.#randomLike(`${part}${'a'.repeat(Math.max(0, attempt - MAX_ATTEMPTS))}`);
    }
    this.#pseudonyms.set(part, pseudonym);
    this.#used.add(pseudonym);
    return pseudonym;
  }

  /** Each character becomes one of its class; punctuation, spaces and control characters stay. */
  #randomLike(template: string): string {
    return Array.from(template, (character) => {
      const [first, count] = rangeOf(character, character.codePointAt(0) as number);
      return String.fromCodePoint(first + this.#randomBelow(count));
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
