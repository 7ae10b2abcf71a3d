import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { scrapeOf, startProgram } from '../e2e/built-program.ts';
import { configOf } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';

const PRINT_ES_MODULES = `
  import { writeSync } from 'node:fs';
  export function load(url, context, next) {
    writeSync(1, url + ' ');
    return next(url, context);
  }
`;

/** Prints the ES modules as they are loaded, and the other modules at the end. */
const PRINT_MODULES = `
  import { createRequire, register } from 'node:module';
  register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(PRINT_ES_MODULES)}`)});
  const { cache } = createRequire(process.cwd() + '/');
  process.on('exit', () => console.log([...Object.keys(cache), ...process.moduleLoadList].join(' ')));
`;

/** The modules that the program loads until it has handled a scrape. */
async function loadedModules(...flags: string[]): Promise<string> {
  const file = temporaryFile('config.yaml', stringify(configOf('http://127.0.0.1:9', ['a'])));
  const { child, closed, output, url } = startProgram(
    { folder: dirname(file), preload: PRINT_MODULES },
    ...['--web.listen-address=127.0.0.1:0', ...flags],
  );
  await scrapeOf(await url(), 0.5);
  child.kill('SIGTERM');
  await closed;
  return output.stdout;
}

describe('serve', () => {
  it('loads only what it needs', async () => {
    const modules = await loadedModules();
    expect(modules).toContain('/dist/web/server.js');
    expect(modules).toContain('/undici/index.js');
    for (const part of ['/simulator/service.js', '/diagnosis/', '/recording/', '/bcrypt/'])
      expect(modules).not.toContain(part);
  });

  it('loads the simulated service for a demo', async () => {
    expect(await loadedModules('--demo')).toContain('/simulator/service.js');
  });
});
