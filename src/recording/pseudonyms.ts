import { createHash, randomBytes } from 'node:crypto';

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
