import type { LoadedConfig, LoadResult } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { AccessRules } from '../web/access/rules.ts';
import { loadAccessRules } from '../web-access.ts';

type Inputs =
  | { readonly ok: true; readonly loaded: LoadedConfig; readonly rules: AccessRules }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The configuration and the web configuration, or all that is wrong with both. */
export async function loadInputs(load: () => Promise<LoadResult>, webConfigFile: string | undefined): Promise<Inputs> {
  const loaded = await load();
  const access = await loadAccessRules(webConfigFile);
  if (loaded.ok && access.ok) return { ok: true, loaded, rules: access.rules };
  return { ok: false, problems: [...(loaded.ok ? [] : loaded.problems.map(formatProblem)), ...(access.ok ? [] : access.problems)] };
}
