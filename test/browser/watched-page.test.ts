import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';
import { chromiumExecutable } from './executable.ts';
import { watchedPageOf } from './watched-page.ts';

describe('watchedPageOf', () => {
  it.each([
    ['an error', "console.error('broken')", 'error: broken'],
    ['an error that nobody catches', "setTimeout(() => { throw new Error('lost'); })", 'thrown: lost'],
    ['a dialog', 'setTimeout(() => alert(1))', 'dialog: 1'],
    [
      'a script',
      "document.body.append(Object.assign(document.createElement('script'), { text: '1' }))",
      /^error: policy violated: script-src/,
    ],
    ['an image', "new Image().src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='", /^error: policy violated: img-src data/],
    ['a handler', "document.body.setAttribute('onclick', '1'); document.body.click()", /^error: policy violated: script-src-attr/],
  ])('tells of %s', async (_, cause, told) => {
    const service = await startTestService({ source: () => entriesOf(1) });
    const exporter = await startReadyExporter(configOf(service.url, ['ts']));
    const { page, troubles } = await watchedPageOf();
    await page.goto(exporter.url);
    expect(troubles).toEqual([]);
    await page.evaluate(`void (() => { ${cause} })()`);
    await eventually(() => expect(troubles).toContainEqual(typeof told === 'string' ? told : expect.stringMatching(told)));
  });
});

describe('chromiumExecutable', () => {
  it('takes what CHROMIUM names', () => {
    expect(chromiumExecutable({ CHROMIUM: process.execPath, PATH: '/nowhere' })).toBe(process.execPath);
  });

  it('says in a sentence what is missing', () => {
    expect(() => chromiumExecutable({ PATH: '/nowhere' })).toThrow(
      'The tests in the browser need Chromium: install the Debian package chromium, or name the program in CHROMIUM.',
    );
    expect(() => chromiumExecutable({ CHROMIUM: '/nowhere/chromium' })).toThrow('CHROMIUM names /nowhere/chromium, which is no program');
  });
});
