import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startProgram } from '../e2e/built-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';

async function startList(format: string) {
  const service = await startTestService({ source: () => entriesOf(4000) });
  const config = configOf(service.url, ['ts'], { upstream: { page_size: 1000 } });
  const file = temporaryFile('config.yaml', stringify(config));
  return startProgram({}, 'list', 'ts', `--config.file=${file}`, `--format=${format}`);
}

describe('telemetry-station-exporter list', () => {
  it('exits with 0 when the reader closes the pipe', async () => {
    const { child, closed, output } = await startList('csv');
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await closed).toEqual({ code: 0, signal: null });
    expect(output.stderr).toBe('');
  });
});
