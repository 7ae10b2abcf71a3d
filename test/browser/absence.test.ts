import { describe, expect, it } from 'vitest';
import { build, run, serve } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { untilText } from './stage.ts';
import { pageOf, REFUSED } from './watched-page.ts';

describe('the status page of a program that ends', () => {
  it('says that it is no longer current, and recovers', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const first = await serve(configOf(service.url, ['one']));
    const url = `http://127.0.0.1:${first.port}/`;
    const page = await pageOf({}, [REFUSED]);
    await page.clock.install();
    await page.goto(url);
    await untilText(page, '#currency', '');
    first.signals.emit('SIGTERM');
    await first.exit;
    await Promise.all([page.waitForEvent('requestfailed'), page.clock.fastForward('01:00')]);
    await untilText(page, '#currency', /^This page is no longer current: the exporter has not answered since \d/);
    expect(await page.locator('#stations').innerText()).toContain('one');

    const second = run([`--config.file=${first.file}`, `--web.listen-address=127.0.0.1:${first.port}`]);
    expect(await second.listening()).toBe(first.port);
    await Promise.all([page.waitForResponse(url), page.clock.fastForward('10:00')]);
    await untilText(page, '#currency', '');
    expect(await page.locator('footer').innerText()).toContain(build.version);
  });
});
