import { describe, expect, it } from 'vitest';
import { describeErrorBody, redactedExcerpt } from '../../src/upstream/reply-failure.ts';

const describeJson = (value: unknown) => describeErrorBody(Buffer.from(JSON.stringify(value)));

describe('describeErrorBody', () => {
  it('reads a google.rpc.Status with its details', () => {
    const details = [{ '@type': 'x', reason: 'TOKEN_EXPIRED' }, { '@type': 'no reason' }, null, 'text', { reason: 'OTHER' }];
    expect(describeJson({ code: 16, message: 'who are you?', details })).toBe('code 16, reason TOKEN_EXPIRED, reason OTHER: who are you?');
  });

  it('shows at most three reasons', () => {
    expect(describeJson({ details: ['a', 'b', 'c', 'd'].map((reason) => ({ reason })) })).toBe('reason a, reason b, reason c');
  });

  it('reads an error object', () => {
    expect(describeJson({ error: { code: 'Denied', message: 'no access' } })).toBe('code Denied: no access');
  });

  it('reads an error text, with its description where there is one', () => {
    expect(describeJson({ error: 'no such route' })).toBe('no such route');
    expect(describeJson({ error: 'invalid_client', error_description: 'unknown client' })).toBe('invalid_client, unknown client');
  });

  it('reads a bare message and a bare code', () => {
    expect(describeJson({ message: 'HMAC signature does not match' })).toBe('HMAC signature does not match');
    expect(describeJson({ code: 14 })).toBe('code 14');
  });

  it('shows JSON of another shape as it came', () => {
    expect(describeJson({ message: '', fault: true })).toBe('{"message":"","fault":true}');
    expect(describeJson(null)).toBe('null');
    expect(describeJson(['a'])).toBe('["a"]');
  });

  it('says that a body is empty', () => {
    expect(describeErrorBody(Buffer.from(' \n'))).toBe('empty body');
  });

  it('names a page without showing it', () => {
    const page = Buffer.from('\n<!doctype html><title>Bad gateway</title>');
    expect(describeErrorBody(page)).toBe(`an HTML or XML page (${page.length} bytes), possibly from a proxy`);
  });

  it('shows plain text', () => {
    expect(describeErrorBody(Buffer.from('upstream connect error'))).toBe('upstream connect error');
  });
});

describe('quotable', () => {
  it('hides a secret also where white space or JSON has changed how it looks', () => {
    expect(redactedExcerpt('told pass  word\there', ['pass  word\there'])).toBe('told <secret>');
    expect(redactedExcerpt(JSON.stringify({ echo: 'a"b\\c' }), ['a"b\\c'])).toBe('{"echo":"<secret>"}');
    expect(redactedExcerpt('pass\u200bword', ['password'])).toBe('<secret>');
  });

  it('keeps a text to one line without control characters', () => {
    expect(redactedExcerpt('a\r\nlevel=error\t\u0000\u001b[31mb\u2028c\u202ed\u0085', [])).toBe('a level=error [31mb cd');
  });

  it('cuts at 200 characters, never within one', () => {
    expect(redactedExcerpt('𐍈'.repeat(200), [])).toBe('𐍈'.repeat(200));
    expect(redactedExcerpt('𐍈'.repeat(201), [])).toBe(`${'𐍈'.repeat(200)}…`);
  });

  it('replaces lone surrogates', () => {
    expect(redactedExcerpt('a\ud800b', [])).toBe('a\ufffdb');
  });

  it('hides every secret, the longer one first', () => {
    expect(redactedExcerpt('key abc, abcdef and abc again', ['abc', '', 'abcdef'])).toBe('key <secret>, <secret> and <secret> again');
  });

  it('hides a secret that control characters took apart', () => {
    expect(redactedExcerpt('to\u0000k\u200ben', ['token'])).toBe('<secret>');
  });

  it('hides a secret on the border of the cut', () => {
    expect(redactedExcerpt(`${'x'.repeat(195)}top-secret-token`, ['top-secret-token'])).toBe(`${'x'.repeat(195)}<secr…`);
  });
});
