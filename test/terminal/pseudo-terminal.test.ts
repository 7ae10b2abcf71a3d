import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** What a terminal of 70 columns gets to see of a shell command. */
async function seen(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('script', ['-qec', `stty cols 70 && ${command}`, '/dev/null']);
  return stdout;
}

describe('telemetry-station-exporter list, under a pseudo terminal', () => {
  const list = `'${process.execPath}' '${main}' list training --demo --limit=1 --format=csv`;

  it('shows progress and clears it before the data', async () => {
    const [before = '', after = ''] = (await seen(list)).split('resource_id,name');
    expect(before).toMatch(/training: 0 pages.*training: \d+ of \d+ pages \[#+\.*\]/s);
    for (const line of before.split('\r\u001b[K')) expect(line.length).toBeLessThan(70);
    expect(before.endsWith('\r\u001b[K')).toBe(true);
    expect(after).toMatch(/\r\n1 of \d+ resources\r\n$/);
  });

  it('shows progress while the data goes into a pipe', async () => {
    const text = await seen(`${list} | cat`);
    expect(text).toMatch(/training: 0 pages/);
    expect(text).toContain('resource_id,name');
  });

  it('shows nothing when stderr is no terminal', async () => {
    const text = await seen(`${list} 2>/dev/null`);
    expect(text).toMatch(/^resource_id,name/);
    expect(text).not.toContain('\u001b');
  });
});
