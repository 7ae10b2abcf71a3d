import { describe, expect, it } from 'vitest';
import { listenAddress } from '../../src/web/server.ts';

describe('listenAddress', () => {
  it.each([
    [':9842', { port: 9842 }],
    [':0', { port: 0 }],
    ['127.0.0.1:65535', { host: '127.0.0.1', port: 65_535 }],
    ['localhost:9842', { host: 'localhost', port: 9842 }],
    ['[::1]:9842', { host: '::1', port: 9842 }],
    ['[::]:9842', { host: '::', port: 9842 }],
  ])('reads %s', (text, address) => {
    expect(listenAddress(text)).toEqual(address);
  });

  it.each([
    '',
    '9842',
    'localhost',
    ':',
    ':-1',
    ':65536',
    ':http',
    '::1:9842',
    '[::1]',
    '[]:1',
    '[1.2.3.4]:1',
    'http://a:1',
    'a b:1',
    ':1 ',
  ])('refuses %j and says what it expected', (text) => {
    expect(() => listenAddress(text)).toThrow(
      `cannot listen on ${JSON.stringify(text)}: expected [host]:port, such as ":9842", "127.0.0.1:9842" or "[::1]:9842"`,
    );
  });
});
