import type { FlagValues } from '../cli/flags.ts';
import { type LoadResult, loadConfig } from '../config/load.ts';
import { loadConfigFile } from '../config-file.ts';
import { startDemo } from '../demo/demo.ts';
import type { Surface } from './surface.ts';

/** Works with the configuration that the flags name: that of the file, or that of a simulated service which runs meanwhile. */
export async function withConfig<T>(
  { env }: Pick<Surface, 'env'>,
  flags: Pick<FlagValues, 'config.file' | 'demo'>,
  work: (load: () => Promise<LoadResult>) => Promise<T>,
): Promise<T> {
  if (!flags.demo) return work(() => loadConfigFile(flags['config.file'], env));
  const { service, config } = await startDemo();
  try {
    return await work(async () => loadConfig({ file: 'demo.yaml', text: config, env }));
  } finally {
    await service.stop();
  }
}
