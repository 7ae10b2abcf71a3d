import type { ConfigPath } from '../schema/config-path.ts';
import { TITLES } from '../schema/scalar-schemas.ts';
import { Secret } from '../schema/secret.ts';
import { SCHEME_NAMES } from '../service/auth/schemes.ts';
import { contentOf } from './file-content.ts';
import { type KeySchema, schemaAt, titledValues } from './key-schema.ts';
import type { Problem } from './problem.ts';
import type { Config } from './schema.ts';
import type { YamlDocument } from './yaml-document.ts';

type UpstreamSettings = Config['upstreams'][string];

interface UpstreamWarnings {
  /** Requests of the upstream will fail. Not a problem of the configuration, because a file may appear later. */
  readonly failing: readonly Problem[];
  /** Intended in some places, such as a configuration file that is a secret itself: only `check` shows them. */
  readonly insecure: readonly Problem[];
}

/** `upstreams`: with resolved paths. `keys`: their schema, in which titles mark files and secrets. */
export async function upstreamWarnings(
  upstreams: Config['upstreams'],
  keys: KeySchema,
  document: YamlDocument,
): Promise<UpstreamWarnings> {
  const failing: Problem[] = [];
  const insecure: Problem[] = [];
  const add = (problems: Problem[], path: ConfigPath, message: string | undefined) => {
    if (message !== undefined) problems.push(document.problemAt(['upstreams', ...path], message));
  };
  for (const [name, upstream] of Object.entries(upstreams)) {
    if (!hasCredentials(upstream)) add(insecure, [name], NO_CREDENTIALS);
    if (upstream.authorization === undefined) continue;
    const { key, problem } = await schemeProblem(upstream.authorization);
    add(failing, [name, 'authorization', key], problem);
  }
  for (const { title, path, value } of titledValues(keys, upstreams)) {
    if (title === TITLES.secretFile || title === TITLES.pemFile)
      add(failing, path, await fileProblem(`${value}`, title));
    const fileKey = fileKeyBeside(keys, path);
    if (!document.isSubstituted(['upstreams', ...path])) add(insecure, path, clearTextProblem(value, fileKey));
  }
  return { failing, insecure };
}

const NO_CREDENTIALS = `no credentials are configured, expected one of ${SCHEME_NAMES.join(', ')}, http_headers or a client certificate`;

function hasCredentials({ http_headers = {}, tls_config, ...upstream }: UpstreamSettings): boolean {
  const hasHeaders = Object.keys(http_headers).length > 0;
  return hasHeaders || tls_config?.cert_file !== undefined || SCHEME_NAMES.some((scheme) => upstream[scheme]);
}

/** `Authorization: Bearer Bearer ...`. */
async function schemeProblem({
  type,
  credentials,
  credentials_file = '',
}: NonNullable<UpstreamSettings['authorization']>) {
  if (credentials) return { key: 'credentials', problem: schemeIn(credentials.reveal(), 'value', type) };
  const content = await contentOf(credentials_file);
  const problem = content.ok ? schemeIn(content.text.trim(), `content of ${credentials_file}`, type) : undefined;
  return { key: 'credentials_file', problem };
}

/** The message must not show the secret. */
function schemeIn(secret: string, what: string, type: string): string | undefined {
  const [, scheme = ''] = /^(\S+)\s+\S/.exec(secret) ?? [];
  const known = ['Basic', 'Bearer', type].find((name) => name.toLowerCase() === scheme.toLowerCase());
  return known && `${what} begins with "${known} ", expected only the credentials, because type adds "${type} "`;
}

async function fileProblem(file: string, title: string): Promise<string | undefined> {
  const content = await contentOf(file);
  if (!content.ok) return `${file} cannot be read: ${content.error.message}`;
  const text = content.text.trim();
  if (text === '') return `${file} is empty, expected its content`;
  const lines = text.split('\n').length;
  return title === TITLES.secretFile && lines > 1 ? `${file} has ${lines} lines, expected one` : undefined;
}

/** The key of the file that can contain a secret instead. */
function fileKeyBeside(keys: KeySchema, path: ConfigPath): string | undefined {
  const mapping = path.slice(
    0,
    path.findLastIndex((part) => typeof part === 'string'),
  );
  const properties = Object.entries(schemaAt(keys, mapping).properties ?? {});
  return properties.find(([, { title, items }]) => (title ?? items?.title) === TITLES.secretFile)?.[0];
}

/** The parameters of a token request have no file beside them: the token endpoint defines their names, and they are often not secret. */
function clearTextProblem(value: unknown, fileKey: string | undefined): string | undefined {
  const advice = `in clear text, expected \${NAME} from the environment`;
  if (value instanceof URL) return value.password === '' ? undefined : `password ${advice}`;
  if (!(value instanceof Secret) || value.reveal() === '' || fileKey === undefined) return undefined;
  return `secret ${advice}, or ${fileKey}`;
}
