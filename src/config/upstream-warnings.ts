import { AUTH_SCHEMES } from './auth-schemas.ts';
import type { ParsedYaml } from './checked-yaml.ts';
import type { ConfigPath, Problem } from './problem.ts';
import type { Config } from './schema.ts';
import { Secret } from './secret.ts';
import { contentOf } from './station-files.ts';

interface UpstreamWarnings {
  /** Requests of the upstream will fail. Not a problem of the configuration, because a file may appear later. */
  readonly failing: readonly Problem[];
  /** Intended in some places, such as a configuration file that is a secret itself: only `check` shows them. */
  readonly insecure: readonly Problem[];
}

type UpstreamConfig = Config['upstreams'][string];

/** Reads each file with a secret or a certificate once. The paths of `upstreams` are resolved. */
export async function upstreamWarnings(upstreams: Config['upstreams'], yaml: ParsedYaml): Promise<UpstreamWarnings> {
  const failing: Problem[] = [];
  const insecure: Problem[] = [];
  for (const [name, upstream] of Object.entries(upstreams)) {
    const place = ['upstreams', name];
    if (!hasCredentials(upstream)) insecure.push(yaml.problemAt(place, NO_CREDENTIALS));
    for (const leaf of leavesOf(upstream, place)) {
      if (isTokenParameter(leaf)) continue;
      const failure = await failureOf(leaf, upstream);
      if (failure !== undefined) failing.push(yaml.problemAt(leaf.path, failure));
      const clear = yaml.isSubstituted(leaf.path) ? undefined : clearTextOf(leaf);
      if (clear !== undefined) insecure.push(yaml.problemAt(leaf.path, clear));
    }
  }
  return { failing, insecure };
}

const NO_CREDENTIALS = `no credentials are configured, expected one of ${AUTH_SCHEMES.join(', ')}, http_headers or a client certificate`;

function hasCredentials({ http_headers, tls_config, ...upstream }: UpstreamConfig): boolean {
  const hasScheme = AUTH_SCHEMES.some((scheme) => upstream[scheme] !== undefined);
  return hasScheme || Object.keys(http_headers ?? {}).length > 0 || tls_config?.cert_file !== undefined;
}

interface Leaf {
  readonly path: ConfigPath;
  /** The innermost key that is no index. */
  readonly key: string;
  readonly value: unknown;
}

function* leavesOf(value: unknown, path: ConfigPath): Iterable<Leaf> {
  const isInner =
    Array.isArray(value) || (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype);
  if (!isInner) {
    yield { path, key: String(path.findLast((part) => typeof part === 'string')), value };
    return;
  }
  for (const [key, inner] of Object.entries(value as object))
    yield* leavesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** The token endpoint defines their names, and they often are no secrets. */
function isTokenParameter({ path: [, , section, key] }: Leaf): boolean {
  return section === 'oauth2' && key === 'endpoint_params';
}

async function failureOf({ key, value }: Leaf, { authorization }: UpstreamConfig): Promise<string | undefined> {
  if (key === 'base_url') return listingPathIn(value as URL);
  if (key === 'credentials') return schemeIn((value as Secret).reveal(), 'value', authorization?.type);
  if (typeof value !== 'string' || !(key === 'files' || key.endsWith('_file'))) return undefined;
  const content = await contentOf(value);
  if ('error' in content) return fileProblem(value, content.error);
  if (content.text.trim() === '') return `${value} is empty, expected its content`;
  return key === 'credentials_file'
    ? schemeIn(content.text.trim(), `content of ${value}`, authorization?.type)
    : undefined;
}

/** The path of each station is appended to the URL. */
function listingPathIn({ pathname }: URL): string | undefined {
  return /\/subscriptions(\/|$)/i.test(pathname)
    ? 'contains the path of a station, expected only the URL before /subscriptions'
    : undefined;
}

/** `Authorization: Bearer Bearer ...`. The message must not show the secret. */
function schemeIn(secret: string, what: string, type = ''): string | undefined {
  const [, scheme = ''] = /^(\S+)\s+\S/.exec(secret) ?? [];
  const known = ['Basic', 'Bearer', type].find((name) => name.toLowerCase() === scheme.toLowerCase());
  return known && `${what} begins with "${known} ", expected only the credentials, because type adds "${type} "`;
}

function fileProblem(file: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `${file} does not exist; requests fail until it does`;
  if (code === 'EISDIR') return `${file} is a directory, expected a file`;
  return `${file} cannot be read: ${message}`;
}

function clearTextOf({ path, value }: Leaf): string | undefined {
  const advice = `in clear text, expected \${NAME} from the environment`;
  if (value instanceof URL) return value.password === '' ? undefined : `password ${advice}`;
  if (!(value instanceof Secret) || value.reveal() === '') return undefined;
  const last = path.at(-1);
  return `secret ${advice}, or ${typeof last === 'number' ? 'files' : `${last}_file`}`;
}
