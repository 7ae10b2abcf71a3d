/** A parameter of a URL: what its value is expected to be. */
interface Parameter {
  readonly expected: string;
  readonly isValid: (value: string) => boolean;
}

export type Parameters<Name extends string = string> = Readonly<Record<Name, Parameter>>;

export const TEXT: Parameter = { expected: 'a text', isValid: () => true };

export const PAGE: Parameter = {
  expected: 'an integer of at least 1',
  isValid: (value) => /^[1-9]\d{0,8}$/.test(value),
};

export function oneOf(words: readonly string[]): Parameter {
  return {
    expected: `${words.length === 1 ? '' : 'one of '}${words.join(', ')}`,
    isValid: (value) => words.includes(value),
  };
}

/** Empty and unknown parameters are ignored. */
export function parseParameters<Name extends string>(query: URLSearchParams, parameters: Parameters<Name>) {
  /** The valid ones; of a repeated one the first. */
  const values: Partial<Record<Name, string>> = {};
  const problems: string[] = [];
  for (const [name, { expected, isValid }] of Object.entries(parameters) as [Name, Parameter][]) {
    const [value, ...others] = query.getAll(name).filter(Boolean);
    if (others.length > 0) problems.push(`Expected ${name} at most once.`);
    if (value !== undefined && !isValid(value)) problems.push(`Expected ${name} to be ${expected}.`);
    else if (value !== undefined) values[name] = value;
  }
  /** The first one, if a parameter is invalid or repeated. */
  return { values, problem: problems[0] };
}

/** With its question mark; parameters without a value are left out. */
export function queryText(values: Readonly<Record<string, string | undefined>>): string {
  return `?${new URLSearchParams(Object.entries(values).filter((entry): entry is [string, string] => !!entry[1]))}`;
}
