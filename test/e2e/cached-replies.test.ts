import { describe, expect, it } from 'vitest';
import type { Fault } from '../../lab/simulator/faults.ts';
import { checkLive } from '../commands/check-live.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configFlag, resultOf } from './running-program.ts';
import { healthOf } from './station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from './test-bed.ts';

const withHeaders = (added: Readonly<Record<string, string>>): Fault => ({
  reply: ({ headers }) => ({ headers: { ...headers, ...added } }),
});

describe('replies from a cache between the exporter and the service', () => {
  it.each([
    { headers: { age: '34' }, note: 'replies come from a cache (Age: 34 s), and are that old', olderSeconds: 34 },
    {
      headers: { 'x-cache': 'HIT' },
      note: 'replies come from a cache (X-Cache: HIT), which does not',
      olderSeconds: 0,
    },
  ])(
    'are called that on the page of the station, by check --live and by list, and are as old: $headers',
    async (row) => {
      const service = await startTestService({
        source: () => entriesOf(3),
        faults: { ts: [withHeaders(row.headers)] },
      });
      const config = configOf(service.url, ['ts']);
      const exporter = await startReadyExporter({ ...config, cache: { ttl: '1h' } });
      const health = healthOf(await exporter.scrape());
      const [attempt = 0, success = 0] = ['attempt', 'success'].map(
        (name) => health[`last_${name}_timestamp_seconds`]?.['{}'] ?? Number.NaN,
      );
      expect(attempt - success).toBeGreaterThanOrEqual(row.olderSeconds);
      const { text } = parseHtml(await (await exporter.get('/stations/ts')).text());
      const live = await checkLive(config);
      const listed = await resultOf(['list', 'ts', configFlag(config)]);
      for (const shown of [text, live.stdout, listed.stderr]) expect(shown.replaceAll(/\s+/g, ' ')).toContain(row.note);
      expect([live.code, listed.code]).toEqual([0, 0]);
    },
  );
});
