import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInSlices, UnreadablePage } from '../../../src/upstream/protocol/page-json.ts';

/** The records and the rest as parsed in slices of so many bytes; undefined when the text is not JSON. */
async function sliced(text: string, sliceBytes: number) {
  const resources: unknown[] = [];
  const take = (records: readonly unknown[]) => resources.push(...records);
  try {
    const rest = await parseInSlices(Buffer.from(text), async (task) => task(), take, sliceBytes);
    return { rest, resources };
  } catch (error) {
    if (error instanceof UnreadablePage) return error.message;
    expect(error).toBeInstanceOf(SyntaxError);
    return 'not JSON';
  }
}

/** The same by JSON.parse. */
function whole(text: string) {
  try {
    const { resources, ...rest } = JSON.parse(text);
    return { rest: { ...rest, resources: [] }, resources };
  } catch {
    return 'not JSON';
  }
}

const tricky = fc.oneof(
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text)),
  fc.constantFrom('"', '\\', '\\"', '],[', '},{', '名,', '\u2028', { resources: [1, 2] }, [[], [{}], ',']),
);
const members = fc.dictionary(
  fc.string().filter((key) => key !== 'resources' && key !== '__proto__'),
  tricky,
  { maxKeys: 3 },
);
const indents = fc.constantFrom(undefined, 1, '\t');
const slices = fc.integer({ min: 0, max: 80 });

describe('parseInSlices', () => {
  it('equals JSON.parse, whatever the records, the other members and the size of a slice', async () => {
    await fc.assert(
      fc.asyncProperty(
        members,
        fc.array(tricky),
        members,
        indents,
        slices,
        async (before, resources, after, indent, sliceBytes) => {
          const text = JSON.stringify({ ...before, resources, ...after }, undefined, indent);
          expect(await sliced(text, sliceBytes)).toEqual(whole(text));
        },
      ),
    );
  });

  it('rejects what JSON.parse rejects, wherever the text is damaged', async () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom('', ',', '"', ']', '[', '}', '{', '\\', ' ', '1'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(tricky, { minLength: 1 }),
        damage,
        slices,
        async (resources, [at, removed, added], sliceBytes) => {
          const start = '{"resources":[';
          const text = JSON.stringify({ resources, page: { total: 3 } });
          const place = start.length + (at % (text.length - start.length));
          const damaged = text.slice(0, place) + added + text.slice(place + removed);
          expect(await sliced(damaged, sliceBytes)).toEqual(whole(damaged));
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    '',
    '[]',
    '{"resources":null}',
    '{"a":{"resources":[1]}}',
    '{"resources":[1],"resources":[]}',
    '{"resources":[1],"\\u0072esources":[]}',
  ])('does not find one array in %j', async (text) => {
    expect(await sliced(text, 1)).toMatch('expected a JSON object with one array "resources"');
  });
});
