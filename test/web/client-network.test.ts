import { describe, expect, it } from 'vitest';
import { clientNetwork } from '../../src/web/client-network.ts';

describe('clientNetwork', () => {
  it.each([
    ['10.0.0.7', '10.0.0.7'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fd00::1:0:0:0:5', 'fd00:0:0:1::/64'],
    ['::ffff:a00:7', '10.0.0.7'],
    ['no address', 'no address'],
    [undefined, ''],
  ])('of %s is %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});
