import { describe, expect, it } from 'vitest';
import { rareWarning } from '../../src/journal/rare-warning.ts';
import { setUpLog } from './recorded-log.ts';

describe('rareWarning', () => {
  it('logs each kind at once, then at most once per interval with the number of times since and the latest fields', () => {
    const { log, now, advance, logged } = setUpLog();
    const reached = rareWarning(log, 'limit reached', 60_000, now);
    for (let time = 0; time < 500; time += 1) reached('pages', { limit: 'pages' });
    reached('reloads', { limit: 'reloads' });
    advance(59_999);
    reached('pages', { limit: 'pages' });
    advance(1);
    reached('pages', { limit: 'pages', client: '10.0.0.7' });
    expect(logged(true)).toEqual([
      'warn msg="limit reached" limit=pages times=1',
      'warn msg="limit reached" limit=reloads times=1',
      'warn msg="limit reached" limit=pages client=10.0.0.7 times=501',
    ]);
  });
});
