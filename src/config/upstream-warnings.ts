import type { ConfigPath } from '../schema/config-path.ts';
import { Secret } from '../schema/secret.ts';
import { SCHEME_NAMES } from '../service/auth/schemes.ts';
import { contentOf } from './file-content.ts';
import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';
import type { YamlDocument } from './yaml-document.ts';

interface UpstreamWarnings {
  /** Requests of the upstream will fail. Not a problem of the configuration, because a file may appear later. */
  readonly failing: readonly Problem[];
  /** Intended in some places, such as a configuration file that is a secret itself: only `check` shows them. */
  readonly insecure: readonly Problem[];
}

/** Reads each file with a secret or a certificate once. The paths of `upstreams` are resolved. */
export async function upstreamWarnings(
  upstreams: Config['upstreams'],
  document: YamlDocument,
): Promise<UpstreamWarnings> {
  const failing: Problem[] = [];
  const insecure: Problem[] = [];
  const add = (problems: Problem[], path: ConfigPath, message: string | undefined) => {
    if (message !== undefined) problems.push(document.problemAt(path, message));
  };
  for (const [name, { http_headers = {}, tls_config, ...upstream }] of Object.entries(upstreams)) {
    const hasCredentials =
      SCHEME_NAMES.some((scheme) => upstream[scheme]) || Object.keys(http_headers).length > 0 || tls_config?.cert_file;
    if (!hasCredentials) add(insecure, ['upstreams', name], NO_CREDENTIALS);
  }
  for (const leaf of leavesOf(upstreams, ['upstreams'])) {
    const [, name, section, key] = leaf.path;
    // The token endpoint defines their names, and they are often not secret.
    if (section === 'oauth2' && key === 'endpoint_params') continue;
    add(failing, leaf.path, await leafProblem(leaf, upstreams[`${name}`]?.authorization?.type));
    if (!document.isSubstituted(leaf.path)) add(insecure, leaf.path, clearTextOf(leaf));
  }
  return { failing, insecure };
}

const NO_CREDENTIALS = `no credentials are configured, expected one of ${SCHEME_NAMES.join(', ')}, http_headers or a client certificate`;

interface Leaf {
  readonly path: ConfigPath;
  /** The innermost key that is not an index. */
  readonly key: string;
  readonly value: unknown;
  readonly replace: (value: unknown) => void;
}

export function* leavesOf(parent: object, path: ConfigPath = []): Iterable<Leaf> {
  for (const [name, value] of Object.entries(parent)) {
    const place = [...path, Array.isArray(parent) ? Number(name) : name];
    const key = String(place.findLast((part) => typeof part === 'string'));
    const isInner = Array.isArray(value) || (value && Object.getPrototypeOf(value) === Object.prototype);
    if (isInner) yield* leavesOf(value, place);
    else yield { path: place, key, value, replace: (next) => Object.assign(parent, { [name]: next }) };
  }
}

/** In an upstream, paths are the values of the keys `*_file` and `files`. */
export function isFile(leaf: Leaf): leaf is Leaf & { readonly value: string } {
  return typeof leaf.value === 'string' && (leaf.key === 'files' || leaf.key.endsWith('_file'));
}

async function leafProblem(leaf: Leaf, type = ''): Promise<string | undefined> {
  if (leaf.key === 'credentials') return schemeIn((leaf.value as Secret).reveal(), 'value', type);
  if (!isFile(leaf)) return undefined;
  const content = await contentOf(leaf.value);
  if (!content.ok) return `${leaf.value} cannot be read: ${content.error.message}`;
  const text = content.text.trim();
  if (text === '') return `${leaf.value} is empty, expected its content`;
  const lines = text.split('\n').length;
  if (!TLS_FILE_KEYS.has(leaf.key) && lines > 1) return `${leaf.value} has ${lines} lines, expected one`;
  return leaf.key === 'credentials_file' ? schemeIn(text, `content of ${leaf.value}`, type) : undefined;
}

/** All other files contain a secret of one line. */
const TLS_FILE_KEYS: ReadonlySet<string> = new Set(['ca_file', 'cert_file', 'key_file']);

/** `Authorization: Bearer Bearer ...`. The message must not show the secret. */
function schemeIn(secret: string, what: string, type: string): string | undefined {
  const [, scheme = ''] = /^(\S+)\s+\S/.exec(secret) ?? [];
  const known = ['Basic', 'Bearer', type].find((name) => name.toLowerCase() === scheme.toLowerCase());
  return known && `${what} begins with "${known} ", expected only the credentials, because type adds "${type} "`;
}

function clearTextOf({ path, value }: Leaf): string | undefined {
  const advice = `in clear text, expected \${NAME} from the environment`;
  if (value instanceof URL) return value.password === '' ? undefined : `password ${advice}`;
  if (!(value instanceof Secret) || value.reveal() === '') return undefined;
  const last = path.at(-1);
  return `secret ${advice}, or ${typeof last === 'number' ? 'files' : `${last}_file`}`;
}
