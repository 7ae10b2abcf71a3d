import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkYaml } from './config/checked-yaml.ts';
import { formatProblem } from './config/problem.ts';
import { type WebConfig, webConfigSchema } from './config/web-schema.ts';
import { isTlsEnabled } from './config/web-tls-schema.ts';
import type { RulesResult } from './web/access/follow.ts';
import { type AccessRules, OPEN_ACCESS, type TlsRules } from './web/access/rules.ts';
import { loadTlsRules } from './web-tls.ts';

/** The rules as the web configuration file says them now; without a file everyone may ask. */
export async function loadAccessRules(file: string | undefined): Promise<RulesResult> {
  if (file === undefined) return { ok: true, rules: OPEN_ACCESS };
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const message = `cannot be read, expected a readable file: ${(error as Error).message}`;
    return { ok: false, problems: [formatProblem({ file, line: 1, column: 1, path: '', message })] };
  }
  const checked = checkYaml(webConfigSchema, { file, text });
  if (!checked.ok) return { ok: false, problems: checked.problems.map(formatProblem) };
  const { tls_server_config: config } = checked.value;
  const tls = isTlsEnabled(config) ? await loadTlsRules(config, dirname(file)) : undefined;
  if (tls === undefined || 'context' in tls) return { ok: true, rules: accessRules(checked.value, tls) };
  const problems = tls.map(({ key, message }) => checked.problemAt(['tls_server_config', ...(key ? [key] : [])], message));
  return { ok: false, problems: problems.map(formatProblem) };
}

function accessRules({ http_server_config, basic_auth_users, rate_limit }: WebConfig, tls: TlsRules | undefined): AccessRules {
  const { interval: intervalMs, burst } = rate_limit;
  return {
    headers: http_server_config.headers,
    users: new Map(Object.entries(basic_auth_users)),
    ...(tls && { tls }),
    ...(intervalMs > 0 && { rate: { intervalMs, burst } }),
  };
}
