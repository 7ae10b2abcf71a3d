import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { configOf, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import { PseudoTerminal, program } from './pseudo-terminal.ts';

describe('the table of list, in a terminal of 80 columns', () => {
  it('fits, in colour and with nothing else that controls the terminal', async () => {
    const records = [
      wireRecord('199bc3dc-0d74-feeb-dca2-a47f35aa59d7', { display_name: '训练平台-'.repeat(20) }),
      wireRecord('unusual', { state: 'ALERTSTATE_FIRING', display_name: '\u001b[2J\u202eunusual' }),
    ];
    const { url } = await startTestService({ source: () => records.map((record) => ({ record })) });
    const file = temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
    const terminal = new PseudoTerminal(`${program} list ts --config.file=${file} 2>/dev/null`);
    await terminal.exit;
    const { text } = terminal;
    expect(text).toContain('\u001b[31mfiring\u001b[0m');
    const plain = [0, 31, 32].reduce((shorter, colour) => shorter.replaceAll(`\u001b[${colour}m`, ''), text);
    const lines = plain.split('\n').slice(0, -1);
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(80);
    expect(plain).not.toContain('\u001b');
    expect(plain).not.toContain('\u202e');
  });
});
