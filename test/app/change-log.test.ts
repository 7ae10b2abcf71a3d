import { describe, expect, it } from 'vitest';
import { logChanges } from '../../src/app/event-log.ts';
import type { LogFields } from '../../src/app/logger.ts';
import { resourceOf } from '../refresh/fixtures.ts';

describe('logChanges', () => {
  const linesOf = (list: Parameters<typeof logChanges>[2]['list'], total = list.length) => {
    const lines: (readonly [string, LogFields | undefined])[] = [];
    const counts = { added: 0, removed: 0, stateChanges: 0, rulesChanges: 0 };
    logChanges({ info: (...line) => lines.push(line as never) }, 'prod', { ...counts, list, total });
    return lines;
  };

  it('logs each change with the resource', () => {
    const change = { change: 'rules', resource: resourceOf('a'), from: 2, to: 0 } as const;
    const fields = { station: 'prod', change: 'rules', resource_id: 'a', name: 'name-a', display_name: 'Display a' };
    expect(linesOf([change])).toEqual([['resource changed', { ...fields, resource_type: 'type.a', from: 2, to: 0 }]]);
  });

  it('logs at most 100 of a refresh, and then how many more there are', () => {
    const added = { change: 'added', resource: resourceOf('a'), from: undefined, to: 'FIRING' } as const;
    const lines = linesOf(new Array(1000).fill(added), 100_000);
    expect(lines.slice(99)).toEqual([lines[0], ['further resources changed', { station: 'prod', changes: 99_900 }]]);
  });
});
