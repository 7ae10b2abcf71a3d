import { describe, expect, it } from 'vitest';
import { type SearchedStation, searchStations } from '../../src/inventory/search.ts';
import { TaskQueue } from '../../src/model/task-queue.ts';
import { resourceOf } from '../refresh/fixtures.ts';

const NEVER = new AbortController().signal;

const many = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => resourceOf(`${prefix}${index}`));

const search = (stations: readonly SearchedStation[], text: string, limit = 10, signal = NEVER) =>
  searchStations(stations, text, limit, new TaskQueue(), signal);

describe('searchStations', () => {
  const stations: SearchedStation[] = [
    {
      name: 'b',
      parts: [[resourceOf('x1'), resourceOf('y', { name: 'VM-ÄX' })], [resourceOf('z', { displayName: 'the X box' })]],
    },
    { name: 'gone', parts: undefined },
    { name: 'empty', parts: [] },
    { name: 'a', parts: [[resourceOf('q'), resourceOf('x2')]] },
  ];

  it('finds a text in ID, name or display name in any case, in the order of the stations', async () => {
    const { found, ...counts } = await search(stations, 'x');
    expect(found.map(({ station, resource }) => `${station} ${resource.id}`)).toEqual(['b x1', 'b y', 'b z', 'a x2']);
    expect(counts).toEqual({ total: 4, stations: 2, withoutData: ['gone'] });
    expect((await search(stations, 'vm-äx')).total).toBe(1);
  });

  it('names stations without data, also when nothing is found', async () => {
    expect(await search(stations, 'nowhere')).toEqual({ found: [], total: 0, stations: 0, withoutData: ['gone'] });
  });

  it('counts exactly what it does not return', async () => {
    const large = [0, 1, 2].map((index) => ({
      name: `s${index}`,
      parts: [many('r', 700), many('q', 5), many('r', 700)],
    }));
    const { found, total, stations: matching } = await search(large, 'r', 200);
    expect([found.length, total, matching]).toEqual([200, 4200, 3]);
    expect(found.at(-1)).toEqual({ station: 's0', resource: resourceOf('r199') });
  });

  it('takes text literally, whatever it contains', async () => {
    const hostile = '.*\\ \0\u202e<b>';
    expect((await search([{ name: 's', parts: [[resourceOf(`a${hostile}b`), resourceOf('c')]] }], hostile)).total).toBe(
      1,
    );
  });

  it('lets other work run between slices of a long search', async () => {
    let iterations = 0;
    let isDone = false;
    const count = () => {
      iterations += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await search([{ name: 's', parts: Array.from({ length: 100 }, () => many('r', 100)) }], 'r');
    isDone = true;
    expect(iterations).toBeGreaterThanOrEqual(10);
  });

  it('ends at the next slice once the signal aborts, and rejects with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('the client has disconnected');
    let read = 0;
    const parts = Array.from({ length: 50 }, () => many('r', 1000));
    function* counted(): Iterable<SearchedStation> {
      for (let index = 0; index < 100; index += 1) {
        read += 1;
        if (read === 3) controller.abort(reason);
        yield { name: `s${index}`, parts };
      }
    }
    const result = searchStations(counted(), 'r', 10, new TaskQueue(), controller.signal);
    await expect(result).rejects.toBe(reason);
    expect(read).toBe(3);
  });
});
