/** A family as parsed from an exposition. */
export interface ParsedFamily {
  readonly help: string;
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
      if (kind === 'HELP') {
        if (families.has(name)) throw new Error(`duplicate family ${name}`);
        families.set(name, { help: rest, type: '', samples: [] });
        current = name;
      } else {
        families.set(name, { ...(families.get(name) as ParsedFamily), type: rest });
      }
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

function parseSample(line: string) {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0] ?? fail(line);
  const labels: Record<string, string> = Object.create(null);
  let at = name.length;
  if (line[at] === '{') {
    at += 1;
    while (line[at] !== '}') {
      const label = /^[a-zA-Z_][a-zA-Z0-9_]*/.exec(line.slice(at))?.[0] ?? fail(line);
      at += label.length;
      if (line.slice(at, at + 2) !== '="') fail(line);
      at += 2;
      let value = '';
      while (line[at] !== '"') {
        if (at >= line.length) fail(line);
        if (line[at] === '\\') {
          at += 1;
          value += { n: '\n', '\\': '\\', '"': '"' }[line[at] ?? ''] ?? fail(line);
        } else {
          value += line[at];
        }
        at += 1;
      }
      at += 1;
      if (label in labels) fail(line);
      labels[label] = value;
      if (line[at] === ',') at += 1;
    }
    at += 1;
  }
  const number = /^ (\S+)$/.exec(line.slice(at))?.[1] ?? fail(line);
  const value =
    { '+Inf': Number.POSITIVE_INFINITY, '-Inf': Number.NEGATIVE_INFINITY, NaN: Number.NaN }[number] ?? Number(number);
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
