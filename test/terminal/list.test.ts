import { describe, expect, it } from 'vitest';
import { program, shown } from './pseudo-terminal.ts';

describe('list, in a terminal', () => {
  const list = `${program} list training --demo --limit=1 --format=csv`;

  it('shows progress and clears it before the data', async () => {
    const { text } = await shown(list, { columns: 70 });
    const [before = '', after = ''] = text.split('resource_id,name');
    expect(before).toMatch(/training: 0 pages.*training: \d+ of \d+ pages \[#+\.*\]/s);
    for (const line of before.split('\r\u001b[K')) expect(line.length).toBeLessThan(70);
    expect(before.endsWith('\r\u001b[K')).toBe(true);
    expect(after).toMatch(/\n1 of \d+ resources\n$/);
  });

  it('shows progress while the data goes into a pipe', async () => {
    const { text } = await shown(`sh -c "${list.replaceAll('"', '\\"')} | cat"`);
    expect(text).toMatch(/training: 0 pages/);
    expect(text).toContain('resource_id,name');
  });

  it('shows nothing but the data when stderr is no terminal', async () => {
    const { text } = await shown(`${list} 2>/dev/null`);
    expect(text).toMatch(/^resource_id,name/);
    expect(text).not.toContain('\u001b');
  });
});
