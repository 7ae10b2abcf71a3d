/** A family as parsed from an exposition. */
export interface ParsedFamily {
  readonly type: string;
  readonly samples: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** A strict parser, independent of the encoder: a repeated family or series, a sample outside its family or a stray character is an error. */
export function parseExposition(text: string): Map<string, ParsedFamily> {
  const families = new Map<string, ParsedFamily>();
  const seen = new Set<string>();
  let current = '';
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no line feed');
  for (const line of text.split('\n').slice(0, -1)) {
    if (line === '# EOF') continue;
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/s.exec(line);
    if (comment) {
      const [, kind, name = '', rest = ''] = comment;
      if (families.get(name)?.type !== (kind === 'HELP' ? undefined : '')) throw new Error(`unexpected ${line}`);
      families.set(name, { type: kind === 'HELP' ? '' : rest, samples: [] });
      current = name;
      continue;
    }
    const sample = parseSample(line);
    const family = families.get(current);
    if (!family || !sample.name.startsWith(current)) throw new Error(`no family for ${line}`);
    const identity = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted()]);
    if (seen.has(identity)) throw new Error(`duplicate series ${identity}`);
    seen.add(identity);
    family.samples.push(sample);
  }
  return families;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\[n\\"])*)"(?:,|$)/y;

function parseSample(line: string) {
  const [, name = '', list = '', number = ''] = SAMPLE.exec(line) ?? fail(line);
  const labels: Record<string, string> = Object.create(null);
  for (LABEL.lastIndex = 0; LABEL.lastIndex < list.length; ) {
    const [, label = '', text = ''] = LABEL.exec(list) ?? fail(line);
    if (label in labels) fail(line);
    labels[label] = text.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (number !== 'NaN' && Number.isNaN(value)) fail(line);
  return { name, labels, value };
}

function fail(line: string): never {
  throw new Error(`invalid sample: ${JSON.stringify(line)}`);
}

/** The values of a family, by the values of the given labels joined with `|`. */
export function valuesOf(
  families: Map<string, ParsedFamily>,
  family: string,
  ...labels: string[]
): Record<string, number> {
  return Object.fromEntries(
    (families.get(family)?.samples ?? []).map((sample) => [
      labels.map((label) => sample.labels[label]).join('|'),
      sample.value,
    ]),
  );
}
