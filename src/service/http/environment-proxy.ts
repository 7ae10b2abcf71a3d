import { BlockList, isIP } from 'node:net';

interface EnvironmentProxy {
  /** Which variable names the proxy. */
  readonly variable: string;
  readonly url: string;
}

/** The proxy that the environment names for requests to a URL, by the rules of Prometheus; undefined: none, or `NO_PROXY` excepts it. */
export function environmentProxy(target: URL, env: NodeJS.ProcessEnv): EnvironmentProxy | undefined {
  const name = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const variable = [name, name.toLowerCase()].find((one) => env[one]);
  if (variable === undefined) return undefined;
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const exceptions = (env['NO_PROXY'] || env['no_proxy'] || '').split(',').map((text) => text.trim().toLowerCase());
  if (isLocal(host) || exceptions.some((exception) => isExcepted(exception, host, portOf(target)))) return undefined;
  const url = env[variable] as string;
  return { variable, url: url.includes('://') ? url : `http://${url}` };
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** An exception is a domain with its subdomains, with a leading dot only the subdomains, an address, a subnet, or `*`. */
function isExcepted(exception: string, host: string, port: string): boolean {
  if (exception === '*') return true;
  if (exception.includes('/')) return isInSubnet(exception, host);
  // The colons of an address are not those of a port.
  const withBrackets = isIP(exception) === 6 ? `[${exception}]` : exception;
  const [, name = '', onlyPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(withBrackets) ?? [];
  const domain = name.replace(/^\*?\./, '');
  if (domain === '' || (onlyPort !== undefined && onlyPort !== port)) return false;
  return host.endsWith(`.${domain}`) || (host === domain && name === domain);
}

function isInSubnet(subnet: string, host: string): boolean {
  const [address = '', prefix = ''] = subnet.split('/');
  if (isIP(host) === 0 || isIP(host) !== isIP(address) || !/^\d{1,3}$/.test(prefix)) return false;
  const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
  if (Number(prefix) > (family === 'ipv6' ? 128 : 32)) return false;
  const subnets = new BlockList();
  subnets.addSubnet(address, Number(prefix), family);
  return subnets.check(host, family);
}
