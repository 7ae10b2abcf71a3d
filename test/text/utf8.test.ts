import { describe, expect, it } from 'vitest';
import { utf8Text } from '../../src/text/utf8.ts';

describe('utf8Text', () => {
  it('is the text of UTF-8, with its byte order mark', () => {
    expect(utf8Text(Buffer.from('\ufeffname: 电站\n'))).toBe('\ufeffname: 电站\n');
  });

  it.each([
    ['GBK', Buffer.from('stations:\n  - name: \xb5\xe7\xd5\xbe\n', 'latin1'), 'line 2 is not UTF-8'],
    ['UTF-16', Buffer.from('\ufeffstations: []\n', 'utf16le'), 'it is UTF-16'],
  ])('says where a file is %s', (_encoding, bytes, found) => {
    expect(() => utf8Text(bytes)).toThrow(`${found}, expected a file that is saved as UTF-8`);
  });
});
