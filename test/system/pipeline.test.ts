import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import { readPage, root } from '../docs/markdown.ts';
import { configOf, startTestService, wireRecord } from '../e2e/test-bed.ts';
import type { TestFault } from '../simulator/simulated-service.ts';
import { temporaryFile } from '../upstream/support/files.ts';

/** The script of the guide that compares a listing with declared IDs. */
const COMPARE =
  readPage('docs/commands.md').blocks.find(({ content }) => content.includes('declared.txt'))?.content ??
  expect.unreachable();

/** Runs a script of a pipeline, with a configuration and declared IDs in its folder. */
async function runPipeline(script: string, config: object, declared: readonly string[]) {
  const folder = dirname(temporaryFile('config.yaml', stringify(config)));
  writeFileSync(join(folder, 'declared.txt'), declared.map((id) => `${id}\n`).join(''));
  const program = `'${process.execPath}' '${join(root, 'dist/main.js')}'`;
  return new Promise<{ code: number; stdout: string }>((resolve) => {
    const child = execFile('bash', ['-c', script.replaceAll('node dist/main.js', program)], { cwd: folder });
    let stdout = '';
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.on('close', (code) => resolve({ code: code ?? -1, stdout }));
  });
}

interface World {
  readonly faults?: readonly TestFault[];
  readonly labels?: readonly object[];
  readonly declared?: readonly string[];
  /** Flags of the gate. */
  readonly gate?: string;
  readonly codes: { readonly compare: number; readonly gate: number };
  /** What the comparison prints. */
  readonly missing?: string;
}

const EXEMPT = { match: { resource_id: 'bare-.*' }, alertable: false };
const OWNERS = [{ match: { resource_id: 'bare-.*' }, labels: { team: 'lab' } }, { labels: { team: 'web' } }];

const WORLDS: Readonly<Record<string, World>> = {
  'a complete listing': { codes: { compare: 0, gate: 1 } },
  'a complete listing without a declared resource': {
    declared: ['web-1', 'lost'],
    codes: { compare: 3, gate: 1 },
    missing: 'lost\n',
  },
  'an incomplete listing': { faults: [NAMED_FAULTS.wrong_total], codes: { compare: 2, gate: 1 } },
  'a station that fails': { faults: [replyWith(403)], codes: { compare: 1, gate: 1 } },
  'exempt resources': { labels: [EXEMPT], codes: { compare: 0, gate: 0 } },
  'exempt resources in an incomplete listing': {
    faults: [NAMED_FAULTS.wrong_total],
    labels: [EXEMPT],
    codes: { compare: 2, gate: 1 },
  },
  'an owner whose resources have alert rules': {
    labels: OWNERS,
    gate: '--label=team=web',
    codes: { compare: 0, gate: 0 },
  },
  'an owner whose resources have none': { labels: OWNERS, gate: '--label=team=lab', codes: { compare: 0, gate: 1 } },
};

describe('a pipeline', () => {
  it.each(Object.entries(WORLDS))('can rely on the exit codes of list and check with %s', async (_, world) => {
    const { faults = [], labels = [], declared = ['web-1', 'bare-1'], gate = '', codes, missing = '' } = world;
    const source = () => [
      { record: wireRecord('web-1'), alertable: true },
      { record: wireRecord('web-2'), alertable: true },
      { record: wireRecord('bare-1', { alert_rules_count: 0 }), alertable: true },
      { record: wireRecord('bare-2', { alert_rules_count: 0 }), alertable: true },
    ];
    const service = await startTestService({ source, faults: { '*': [...faults] } });
    const config = configOf(service.url, ['prod'], { station: { alertability: true }, labels });
    expect(await runPipeline(COMPARE, config, declared)).toEqual({ code: codes.compare, stdout: missing });
    const check = `node dist/main.js check --live --config.file=config.yaml --min-coverage=1 ${gate} > report.txt`;
    expect(await runPipeline(check, config, declared)).toEqual({ code: codes.gate, stdout: '' });
  });
});
