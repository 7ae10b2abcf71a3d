import { createHash, randomBytes } from 'node:crypto';
import { isObject, labelText, type RecordField } from '../model/resource.ts';

/** Replaces text of unknown content. */
const INVALID = 'unreadable';

/** How a value is recorded: by a function, as a pseudonym, or as an object with these fields only, because the content of others is unknown. */
type Anonymizer = ((value: unknown) => unknown) | 'pseudonym' | { readonly [field: string]: Anonymizer };

export const RECORD = {
  resource_type: { key: keepToken, label: keepToken },
  resource_id: 'pseudonym',
  create_time: (value) => (typeof value === 'string' && /^[\d:.TtZz +-]*$/.test(value) ? value : keepType(value)),
  sku: keepToken,
  state: keepToken,
  display_name: 'pseudonym',
  alert_rules_count: keepCount,
  name: 'pseudonym',
  gpu_model: keepToken,
} as const satisfies Readonly<Record<RecordField | 'resource_id', Anonymizer>>;

/** In listings that only need the ids. */
export const ID_RECORD = { resource_id: 'pseudonym' } as const;

const PAGE = { offset: keepCount, size: keepCount, total: keepCount };

const FIELDS = Object.entries(RECORD);

/** The fields of a record that are replaced, and those that a recording has as they are. */
export const RECORDED_FIELDS = {
  replaced: FIELDS.filter(([, how]) => how === 'pseudonym').map(([name]) => name),
  kept: FIELDS.filter(([, how]) => how !== 'pseudonym').map(([name]) => name),
};

/** Replaces ids and names; valid values stay valid and invalid ones invalid. A missing field stays missing. */
export function anonymized(value: unknown, how: Anonymizer, pseudonyms: Pseudonyms): unknown {
  if (typeof how === 'function') return how(value);
  // Truncated as the exporter does, so that names it treats as equal stay equal.
  if (how === 'pseudonym') return typeof value === 'string' ? pseudonyms.of(labelText(value)) : keepType(value);
  if (!isObject(value)) return keepType(value);
  const present = Object.entries(how).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(present.map(([name, field]) => [name, anonymized(value[name], field, pseudonyms)]));
}

export function anonymizedPage(page: unknown, pseudonyms: Pseudonyms): Readonly<Record<string, unknown>> | null {
  return isObject(page) ? (anonymized(page, PAGE, pseudonyms) as Readonly<Record<string, unknown>>) : null;
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
