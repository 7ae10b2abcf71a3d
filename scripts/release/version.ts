/** Versions as releases use them: 1.2.3, and 1.2.3-rc.1 for a candidate. */
export interface Version {
  readonly text: string;
  readonly numbers: readonly [number, number, number];
  /** What follows the hyphen of a candidate. */
  readonly suffix?: string;
}

const PATTERN = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\dA-Za-z]+(?:\.[\dA-Za-z]+)*))?$/;

export function parseVersion(text: string): Version {
  const match = PATTERN.exec(text);
  if (!match) throw new Error(`version ${text}: expected a form like 1.2.3 or 1.2.3-rc.1`);
  const [, major, minor, patch, suffix] = match;
  const numbers = [Number(major), Number(minor), Number(patch)] as const;
  return { text, numbers, ...(suffix !== undefined && { suffix }) };
}

/** Whether no published version without a suffix is newer. Only such a version may be called `latest`. */
export function isNewest(version: Version, published: readonly string[]): boolean {
  if (version.suffix !== undefined) return false;
  return published
    .filter((text) => PATTERN.test(text))
    .map(parseVersion)
    .every((other) => other.suffix !== undefined || compareNumbers(other, version) <= 0);
}

/** The dist-tag of the package: `npm install` without a version installs `latest`. */
export function distTag(version: Version, published: readonly string[]): string {
  if (version.suffix !== undefined) return 'next';
  const [major, minor] = version.numbers;
  return isNewest(version, published) ? 'latest' : `release-${major}.${minor}`;
}

function compareNumbers(one: Version, other: Version): number {
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
