import { isIPv6 } from 'node:net';

/** What limits per client apply to: an IPv4 address, or the /64 network of an IPv6 address, any of which one client can use. */
export function clientNetwork(address = ''): string {
  // A dual-stack socket reports an IPv4 address as IPv4-mapped IPv6.
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(unmapped)) return unmapped;
  const [left = '', right] = unmapped.replace(/%.*$/, '').split('::');
  const groups = left.split(':').filter((group) => group !== '');
  const known = right === undefined ? groups : [...groups, ...Array(8 - groups.length).fill('0')];
  return `${known.slice(0, 4).join(':')}::/64`;
}
