import { describe, expect, it } from 'vitest';
import {
  choice,
  duration,
  externalUrl,
  faultShare,
  file,
  hostNames,
  integer,
  listenAddress,
  resourceColumns,
  size,
  sortOrder,
  telemetryPath,
  text,
  toggle,
} from '../../src/cli/flag-kind.ts';
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';

describe('file', () => {
  it('accepts any text except an empty one', () => {
    expect(file.parse('a b.yaml')).toBe('a b.yaml');
    expect(file.parse('')).toBeUndefined();
  });
});

describe('text', () => {
  it('accepts any text', () => {
    expect(['', ' a '].map(text.parse)).toEqual(['', ' a ']);
  });
});

describe('sortOrder', () => {
  it('parses a key with an optional leading - for descending order', () => {
    expect(sortOrder.parse('created')).toEqual({ by: 'created', descending: false });
    expect(sortOrder.parse('-alert_rules')).toEqual({ by: 'alert_rules', descending: true });
  });

  it.each(['', '-', '--created', 'size', 'constructor', '-__proto__', 'resource_name'])('rejects %j', (given) => {
    expect(sortOrder.parse(given)).toBeUndefined();
  });

  it('lists the keys under the names of their columns, and accepts both', () => {
    expect(sortOrder.expected).toContain('one of resource_id, name, display_name, resource_type, ');
    expect(sortOrder.parse('-resource_id')).toEqual(sortOrder.parse('-id'));
    expect(sortOrder.parse('resource_type')).toEqual({ by: 'type', descending: false });
  });
});

describe('toggle', () => {
  it('accepts only true and false', () => {
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
  ])('parses %j', (text, expected) => {
    expect(integer(1).parse(text)).toBe(expected);
  });

  it.each(['0', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '1 ', '', 'one', '9007199254740992'])('rejects %j', (text) => {
    expect(integer(1).parse(text)).toBeUndefined();
  });

  it('rejects values above the maximum', () => {
    expect(integer(0, 65_535).parse('65535')).toBe(65_535);
    expect(integer(0, 65_535).parse('65536')).toBeUndefined();
    expect(integer(0, 65_535).expected).toBe('an integer from 0 to 65535');
  });
});

describe('size', () => {
  it('parses a number of bytes with its unit', () => {
    expect([size.parse('1MiB'), size.parse('64KB'), size.parse('0B')]).toEqual([1_048_576, 64_000, 0]);
    expect([size.parse('1'), size.parse('1 MiB'), size.parse('-1B')]).toEqual([undefined, undefined, undefined]);
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
  ])('parses %j', (text, expected) => {
    expect(duration(1).parse(text)).toBe(expected);
  });

  it.each(['', '10', 'soon', '-1s', '.5s', '0s', '0.0s', '0.0001s', '1d1ms', '25h', '30d'])('rejects %j', (text) => {
    expect(duration(1).parse(text)).toBeUndefined();
  });

  it('accepts zero where allowed', () => {
    expect(duration(0).parse('0s')).toBe(0);
  });
});

describe('choice', () => {
  it('accepts one of its words, case-sensitive', () => {
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
  ])('rejects %j', (text) => {
    expect(listenAddress.parse(text)).toBeUndefined();
  });

  it.each(['999.0.0.1:80', '1.2.3:80', 'http://localhost:80', 'a b:80', 'a\n:80', ':80\n'])(
    'rejects the host or port of %j',
    (text) => {
      expect(listenAddress.parse(text)).toBeUndefined();
    },
  );
});

describe('hostNames', () => {
  it.each([
    ['', []],
    ['a.example', ['a.example']],
    ['localhost,a-b.example,10.0.0.1', ['localhost', 'a-b.example', '10.0.0.1']],
  ])('accepts %j', (text, names) => {
    expect(hostNames.parse(text)).toEqual(names);
  });

  it.each([',', 'a.example,', 'a.example:80', 'http://a.example', 'a b', '*.example', '.example'])(
    'rejects %j',
    (text) => {
      expect(hostNames.parse(text)).toBeUndefined();
    },
  );
});

describe('telemetryPath', () => {
  it.each(['/metrics', '/a/b.c_d~e-f', '/probes', '/x/probe', '/-x', '/..x', '/a..', '/config/metrics'])(
    'accepts %j',
    (path) => {
      expect(telemetryPath.parse(path)).toBe(path);
    },
  );

  it.each(['/', '/probe', '/sd', '/config', '/reference', '/stations/prod', '/-/ready', '/-/metrics'])(
    'rejects the reserved path %j',
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
  ])('rejects %j', (path) => {
    expect(telemetryPath.parse(path)).toBeUndefined();
  });
});

describe('externalUrl', () => {
  it.each([
    ['http://exporter.example.com', 'http://exporter.example.com/'],
    ['HTTPS://example.com:8443/monitoring/', 'https://example.com:8443/monitoring/'],
    ['http://[::1]:80/a', 'http://[::1]/a'],
  ])('parses %j', (text, href) => {
    expect(externalUrl.parse(text)?.href).toBe(href);
  });

  it.each(['', '/monitoring', 'example.com', 'http:example.com', 'ftp://example.com', 'http://', 'http://a b/'])(
    'rejects %j',
    (text) => {
      expect(externalUrl.parse(text)).toBeUndefined();
    },
  );

  it.each([
    'http://u@example.com',
    'http://u:p@example.com',
    'http://:p@example.com',
    'http://example.com/?',
    'http://example.com/?a=1',
    'http://example.com/#',
  ])('rejects user, query or fragment in %j', (text) => {
    expect(externalUrl.parse(text)).toBeUndefined();
  });
});

describe('faultShare', () => {
  it.each([
    ['hang', { kind: 'hang', when: { share: 1 } }],
    ['rate_limited:0.1', { kind: 'status', code: 429, when: { share: 0.1 } }],
    ['reset:.5', { kind: 'reset', when: { share: 0.5 } }],
    ['reset:0', { kind: 'reset', when: { share: 0 } }],
    ['reset:1', { kind: 'reset', when: { share: 1 } }],
    ['reset:1.0', { kind: 'reset', when: { share: 1 } }],
  ])('parses %s', (text, fault) => {
    expect(faultShare.parse(text)).toEqual(fault);
  });

  it.each([
    '',
    'slo',
    'hang:',
    'hang:1.5',
    'hang:2',
    'hang:-1',
    'hang:a',
    'hang:0.1:2',
    'hang ',
    'toString',
    '__proto__',
  ])('rejects %j', (text) => {
    expect(faultShare.parse(text)).toBeUndefined();
  });

  it('lists all fault names', () => {
    for (const name of Object.keys(NAMED_FAULTS)) expect(faultShare.expected).toContain(` ${name}`);
  });
});

describe('resourceColumns', () => {
  it('parses names in their order, and the short names of sort keys', () => {
    expect(resourceColumns.parse('state,id,type')).toEqual(['state', 'resource_id', 'resource_type']);
  });

  it.each([
    ['', ''],
    ['state,', ''],
    ['state,nothing,sku', 'nothing'],
    ['sku,state,state', 'state'],
    ['id,resource_id', 'resource_id'],
    ['constructor', 'constructor'],
  ])('rejects %j and names %j', (text, wrong) => {
    expect(resourceColumns.parse(text)).toBeUndefined();
    expect(resourceColumns.wrongPart?.(text)).toBe(wrong);
  });
});
