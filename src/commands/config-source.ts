import { loadAccessRules } from '../app/web-access.ts';
import type { FlagValues } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { contentOf } from '../config/file-content.ts';
import { type LoadResult, loadConfig } from '../config/load.ts';
import { formatProblems, unreadable } from '../config/problem.ts';
import type { ProcessContext } from './process-context.ts';

export async function withConfig<T>(
  { env }: Pick<ProcessContext, 'env'>,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  work: (load: () => Promise<LoadResult>) => Promise<T>,
): Promise<T> {
  if (!flags.demo) return work(() => loadConfigFile(flags['config.file'], env));
  const { startDemo } = await import('../../lab/main.ts');
  const { service, config } = await startDemo();
  try {
    return await work(async () => ({
      ...(await loadConfig({ file: 'none (--demo)', text: config, env })),
      securityWarnings: [],
    }));
  } finally {
    await service.stop();
  }
}

export async function loadInputs(load: () => Promise<LoadResult>, webConfigFile: string | undefined) {
  const loaded = await load();
  const access = await loadAccessRules(webConfigFile);
  if (loaded.ok && access.ok) return { loaded, rules: access.rules };
  throw new OperatorError([
    ...(loaded.ok ? [] : formatProblems(loaded.problems)),
    ...(access.ok ? [] : access.problems),
  ]);
}

const MISSING_HINT = '; config.example.yaml is a template, and --demo needs no configuration';

export async function loadConfigFile(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadResult> {
  const content = await contentOf(file);
  if (content.ok) return loadConfig({ file, text: content.text, env });
  const { error } = content;
  return { ok: false, problems: [unreadable(file, error, error.code === 'ENOENT' ? MISSING_HINT : '')] };
}
