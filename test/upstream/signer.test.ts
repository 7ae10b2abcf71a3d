import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/station/failure.ts';
import { encodeHeader, mergeHeaders } from '../../src/upstream/signer.ts';

describe('encodeHeader', () => {
  it('keeps printable text unchanged', () => {
    expect(encodeHeader('X-Key', 'a b\t~"')).toEqual(['X-Key', 'a b\t~"']);
  });

  it('encodes other scripts as UTF-8', () => {
    const [, value] = encodeHeader('X-Tenant', '存储');
    expect(Buffer.from(value, 'latin1').toString()).toBe('存储');
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', 'a\u007fb'])('rejects %j without repeating it', (value) => {
    const attempt = () => encodeHeader('X-Key', value);
    expect(attempt).toThrow(ListingFailure);
    expect(attempt).toThrow(/^invalid value of header X-Key: expected no line breaks or other control characters$/);
  });
});

describe('mergeHeaders', () => {
  it('overrides names regardless of case and keeps repeated headers of one list', () => {
    const lower = [
      ['Accept', 'a'],
      ['User-Agent', 'u'],
    ] as const;
    const upper = [
      ['user-agent', 'v'],
      ['X', '1'],
      ['X', '2'],
    ] as const;
    expect(mergeHeaders(lower, upper)).toEqual([['Accept', 'a'], ...upper]);
  });
});
