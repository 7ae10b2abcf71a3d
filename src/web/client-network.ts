import ipaddr from 'ipaddr.js';

/** What limits per client apply to: an IPv4 address, or the /64 network of an IPv6 address, because a client can use any address in it. */
export function clientNetwork(address = ''): string {
  if (!ipaddr.isValid(address)) return address;
  // A dual-stack socket reports an IPv4 address as IPv4-mapped IPv6.
  const client = ipaddr.process(address);
  if (!(client instanceof ipaddr.IPv6)) return client.toString();
  const network = client.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
