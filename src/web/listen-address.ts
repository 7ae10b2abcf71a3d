import { isIPv6 } from 'node:net';

/** Where to listen; without a host on all interfaces, IPv6 and IPv4. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

/** Reads `:9842`, `127.0.0.1:9842`, `localhost:9842` or `[::1]:9842`. */
export function listenAddress(text: string): ListenAddress {
  const [, ipv6, name, port] = /^(?:\[([^\]]*)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535 || (ipv6 !== undefined && !isIPv6(ipv6))) {
    throw new Error(`cannot listen on ${JSON.stringify(text)}: expected [host]:port, such as ":9842", "127.0.0.1:9842" or "[::1]:9842"`);
  }
  const host = ipv6 ?? name;
  return host ? { host, port: Number(port) } : { port: Number(port) };
}
