import { describe, expect, it } from 'vitest';
import {
  choice,
  duration,
  externalUrl,
  file,
  integer,
  listenAddress,
  sortOrder,
  telemetryPath,
  text,
  toggle,
} from '../../src/cli/flag-kind.ts';

describe('file', () => {
  it('is any text but none', () => {
    expect(file.parse('a b.yaml')).toBe('a b.yaml');
    expect(file.parse('')).toBeUndefined();
  });
});

describe('text', () => {
  it('is any text, also an empty one', () => {
    expect(['', ' a '].map(text.parse)).toEqual(['', ' a ']);
  });
});

describe('sortOrder', () => {
  it('is a key, or a key with - in front for the other way round', () => {
    expect(sortOrder.parse('created')).toEqual({ by: 'created', descending: false });
    expect(sortOrder.parse('-alert_rules')).toEqual({ by: 'alert_rules', descending: true });
  });

  it.each(['', '-', '--created', 'size', 'constructor', '-__proto__'])('refuses %j', (given) => {
    expect(sortOrder.parse(given)).toBeUndefined();
  });

  it('tells every key', () => {
    expect(sortOrder.expected).toContain('one of id, name, display_name, type, ');
  });
});

describe('toggle', () => {
  it('is true or false, in these words alone', () => {
    expect(['true', 'false', 'TRUE', '1', '', 'constructor'].map(toggle.parse)).toEqual([
      true,
      false,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('integer', () => {
  it.each([
    ['1', 1],
    ['0042', 42],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('reads %j', (text, expected) => {
    expect(integer(1).parse(text)).toBe(expected);
  });

  it.each(['0', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '1 ', '', 'one', '9007199254740992'])('refuses %j', (text) => {
    expect(integer(1).parse(text)).toBeUndefined();
  });

  it('refuses what is above its upper bound', () => {
    expect(integer(0, 65_535).parse('65535')).toBe(65_535);
    expect(integer(0, 65_535).parse('65536')).toBeUndefined();
    expect(integer(0, 65_535).expected).toBe('an integer from 0 to 65535');
  });
});

describe('duration', () => {
  it.each([
    ['10s', 10_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['0.5s', 500],
    ['1.25s', 1250],
    ['1d', 86_400_000],
  ])('reads %j', (text, expected) => {
    expect(duration(1).parse(text)).toBe(expected);
  });

  it.each(['', '10', 'soon', '-1s', '.5s', '0s', '0.0s', '0.0001s', '1d1ms', '25h', '30d'])('refuses %j', (text) => {
    expect(duration(1).parse(text)).toBeUndefined();
  });

  it('can be zero where that is allowed', () => {
    expect(duration(0).parse('0s')).toBe(0);
  });
});

describe('choice', () => {
  it('is one of its words as written', () => {
    const kind = choice('logfmt', 'json');
    expect(kind.parse('json')).toBe('json');
    expect(kind.parse('JSON')).toBeUndefined();
    expect(kind.parse('')).toBeUndefined();
  });
});

describe('listenAddress', () => {
  it.each([
    [':9842', { port: 9842 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['exporter-1.example.com:65535', { host: 'exporter-1.example.com', port: 65_535 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['[::]:80', { host: '::', port: 80 }],
    ['[fe80::1%eth0]:80', { host: 'fe80::1%eth0', port: 80 }],
  ])('parses %j', (text, address) => {
    expect(listenAddress.parse(text)).toEqual(address);
  });

  it.each([
    '',
    '9842',
    'localhost',
    ':',
    ':65536',
    ':-1',
    ':http',
    '::1:80',
    '[::1]',
    '[::1:80',
    '[localhost]:80',
    '[]:80',
    '[1.2.3.4]:80',
  ])('refuses %j', (text) => {
    expect(listenAddress.parse(text)).toBeUndefined();
  });

  it.each(['999.0.0.1:80', '1.2.3:80', 'http://localhost:80', 'a b:80', 'a\n:80', ':80\n'])('refuses the host or port of %j', (text) => {
    expect(listenAddress.parse(text)).toBeUndefined();
  });
});

describe('telemetryPath', () => {
  it.each(['/metrics', '/a/b.c_d~e-f', '/probes', '/x/probe', '/-x', '/..x', '/a..', '/config/metrics'])('takes %j', (path) => {
    expect(telemetryPath.parse(path)).toBe(path);
  });

  it.each(['/', '/probe', '/sd', '/config', '/reference', '/stations/prod', '/-/ready', '/-/metrics'])(
    'leaves %j to the endpoint that is there',
    (path) => {
      expect(telemetryPath.parse(path)).toBeUndefined();
    },
  );

  it.each([
    '',
    'metrics',
    'metrics/x',
    '//metrics',
    '/metrics/',
    '/a/../sd',
    '/./sd',
    '/m?x',
    '/m#x',
    '/:name',
    '/*all',
    '/m%20',
    '/m n',
    '/m\n',
  ])('refuses %j', (path) => {
    expect(telemetryPath.parse(path)).toBeUndefined();
  });
});

describe('externalUrl', () => {
  it.each([
    ['http://exporter.example.com', 'http://exporter.example.com/'],
    ['HTTPS://example.com:8443/monitoring/', 'https://example.com:8443/monitoring/'],
    ['http://[::1]:80/a', 'http://[::1]/a'],
  ])('reads %j', (text, href) => {
    expect(externalUrl.parse(text)?.href).toBe(href);
  });

  it.each(['', '/monitoring', 'example.com', 'http:example.com', 'ftp://example.com', 'http://', 'http://a b/'])('refuses %j', (text) => {
    expect(externalUrl.parse(text)).toBeUndefined();
  });

  it.each([
    'http://u@example.com',
    'http://u:p@example.com',
    'http://:p@example.com',
    'http://example.com/?',
    'http://example.com/?a=1',
    'http://example.com/#',
  ])('refuses the part that does not belong in %j', (text) => {
    expect(externalUrl.parse(text)).toBeUndefined();
  });
});
