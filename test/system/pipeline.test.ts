import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import { readPage, root } from '../docs/markdown.ts';
import { configOf, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';

/** The script of the guide that compares a listing with declared IDs. */
const COMPARE =
  readPage('docs/commands.md').blocks.find(({ content }) => content.includes('declared.txt'))?.content ??
  expect.unreachable();

/** Runs the script, with a configuration and declared IDs in its folder. */
async function compare(config: object, declared: readonly string[]) {
  const folder = dirname(temporaryFile('config.yaml', stringify(config)));
  writeFileSync(join(folder, 'declared.txt'), declared.map((id) => `${id}\n`).join(''));
  const program = `'${process.execPath}' '${join(root, 'dist/main.js')}'`;
  const script = COMPARE.replaceAll('node dist/main.js', program);
  return new Promise<{ code: number; stdout: string }>((resolve) => {
    const child = execFile('bash', ['-c', script], { cwd: folder, encoding: 'utf8' }, (_error, stdout) =>
      resolve({ code: child.exitCode ?? -1, stdout }),
    );
  });
}

/** The exit codes of `list` and `check` themselves are tested in test/commands. */
describe('the script that compares a listing with declared IDs', () => {
  it.each([
    { listing: 'a complete listing', code: 0, missing: '' },
    { listing: 'a complete listing without a declared resource', declared: 'lost', code: 3, missing: 'lost\n' },
    { listing: 'an incomplete listing', fault: NAMED_FAULTS.wrong_total, code: 2, missing: '' },
    { listing: 'a station that fails', fault: replyWith(403), code: 1, missing: '' },
  ])('exits with $code for $listing', async ({ declared = 'r1', fault, code, missing }) => {
    const source = () => [{ record: wireRecord('r1') }, { record: wireRecord('r2') }];
    const service = await startTestService({ source, faults: { '*': fault ? [fault] : [] } });
    expect(await compare(configOf(service.url, ['prod']), ['r2', declared])).toEqual({ code, stdout: missing });
  });
});
