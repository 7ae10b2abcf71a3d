import { describe, expect, it } from 'vitest';
import { environmentProxy } from '../../../src/service/http/environment-proxy.ts';

const PROXY = { HTTPS_PROXY: 'http://secure:1', HTTP_PROXY: 'plain:2' };

const urlFor = (url: string, env: object) => environmentProxy(new URL(url), { ...env })?.url;

describe('environmentProxy', () => {
  it('is that of the scheme, in capitals or not, with or without http://', () => {
    expect(environmentProxy(new URL('https://h'), PROXY)).toEqual({ variable: 'HTTPS_PROXY', url: 'http://secure:1' });
    expect(environmentProxy(new URL('http://h'), PROXY)).toEqual({ variable: 'HTTP_PROXY', url: 'http://plain:2' });
    expect(urlFor('https://h', { https_proxy: 'http://lower:3', HTTPS_PROXY: '' })).toBe('http://lower:3');
    expect(urlFor('https://h', { HTTP_PROXY: 'http://plain:2' })).toBeUndefined();
  });

  it.each(['http://localhost:80', 'http://127.0.0.9', 'http://[::1]:9'])('is none for %s', (url) => {
    expect(urlFor(url, PROXY)).toBeUndefined();
  });

  it.each([
    { exception: '*', excepts: ['https://any'], keeps: [] },
    { exception: 'a.com', excepts: ['https://a.com', 'https://x.a.com', 'https://A.com:9'], keeps: ['https://ba.com'] },
    { exception: '.a.com', excepts: ['https://x.a.com'], keeps: ['https://a.com'] },
    { exception: '*.a.com', excepts: ['https://x.a.com'], keeps: ['https://a.com'] },
    { exception: 'a.com:443', excepts: ['https://a.com'], keeps: ['https://a.com:9', 'http://a.com'] },
    {
      exception: 'b, 10.0.0.0/8',
      excepts: ['https://10.9.1.2', 'https://b'],
      keeps: ['https://11.0.0.1', 'https://c'],
    },
    { exception: '10.1.2.3', excepts: ['https://10.1.2.3:9'], keeps: ['https://10.1.2.30'] },
    { exception: 'fd00::/8,::9', excepts: ['https://[fd00::1]', 'https://[::9]'], keeps: ['https://[fe00::1]'] },
    { exception: '10.0.0.0/99,,10.0.0.0/x', excepts: [], keeps: ['https://10.0.0.1'] },
  ])('is none for the exception $exception', ({ exception, excepts, keeps }) => {
    const isExcepted = (url: string) => urlFor(url, { ...PROXY, NO_PROXY: exception }) === undefined;
    expect([...excepts, ...keeps].filter(isExcepted)).toEqual(excepts);
    expect(urlFor('https://any', { ...PROXY, no_proxy: '*' })).toBeUndefined();
  });
});
