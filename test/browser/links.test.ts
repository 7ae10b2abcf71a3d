import { describe, expect, it } from 'vitest';
import { configOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage } from './page.ts';
import { tabTo, WIDTHS } from './stage.ts';

const ID = '"><img src=x onerror=alert(1)> &?#/';

async function linkedExporter() {
  const service = await startTestService({ source: () => [{ record: wireRecord(ID, { name: ID }) }] });
  const target = `${service.url}/target`;
  const links = ['Grafana', 'Prometheus', 'Cloud console'].map((name) => ({
    name,
    station: `${target}?station={station}`,
    resource: `${target}?id={resource_id}#{name}`,
  }));
  const exporter = await startReadyExporter({ ...configOf(service.url, ['a']), links });
  return { exporter, target };
}

describe('links to other tools', () => {
  it.each(WIDTHS)('are reached by keyboard and lead to the configured host, %i px wide', async (width) => {
    const { exporter, target } = await linkedExporter();
    const page = await openPage({ viewport: { width, height: 900 } }, [/^error: Failed to load resource/]);
    for (const [path, expected] of [
      ['/stations/a', [['station', 'a']]],
      [`/stations/a/resources/${encodeURIComponent(ID)}`, [['id', ID]]],
    ] as const) {
      await page.goto(`${exporter.url}${path}`);
      await expectSound(page);
      await tabTo(page, '.links a');
      await Promise.all([page.waitForURL((at) => at.href.startsWith(target)), page.keyboard.press('Enter')]);
      expect([...new URL(page.url()).searchParams]).toEqual(expected);
      expect(await page.evaluate<string>('document.referrer')).toBe('');
    }
  });
});
