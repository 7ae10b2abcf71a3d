import { withConfigFile } from './config-file.ts';
import { type Figure, figure, median } from './figure.ts';
import { BARE, imageOptions, MAIN, startNode } from './program.ts';

const RUNS = 15;

/** Time until the output of a command, relative to Node without a program. */
export async function startFigures(): Promise<Figure[]> {
  return withConfigFile({ servicePort: 9, stations: ['ts'] }, async (file) => {
    const commands = {
      bare: { args: BARE, until: 'started' },
      version: { args: [MAIN, '--version'], until: 'version' },
      help: { args: [MAIN, '--help'], until: 'usage:' },
      serve: {
        args: [...imageOptions(), MAIN, `--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
        until: 'msg=listening',
      },
    };
    type Name = keyof typeof commands;
    const times: Record<Name, number[]> = { bare: [], version: [], help: [], serve: [] };
    const cpu = { bare: [] as number[], serve: [] as number[] };
    // The first round fills the file cache.
    for (let round = 0; round <= RUNS; round += 1) {
      // Alternating, so that a slowdown of the machine affects all.
      for (const name of Object.keys(commands) as Name[]) {
        const { args, until } = commands[name];
        const node = await startNode(args, until);
        if (round > 0) times[name].push(node.startMs);
        // The other two have already ended.
        if (round > 0 && (name === 'bare' || name === 'serve')) cpu[name].push(node.cpuMs());
        await node.stop();
      }
    }
    const relative = (name: Name) => median(times[name]) / median(times.bare);
    return [
      figure('Node without a program, time until it runs', median(times.bare), 'ms'),
      figure('`--version` relative to Node without a program', relative('version'), '×', 2),
      figure('`--help` relative to Node without a program', relative('help'), '×', 2),
      figure('`serve` until it listens', median(times.serve), 'ms'),
      figure('`serve` until it listens, relative to Node without a program', relative('serve'), '×', 6.5),
      figure('`serve` until it listens, CPU', median(cpu.serve), 'ms'),
      figure('CPU relative to Node without a program', median(cpu.serve) / median(cpu.bare), '×'),
    ];
  });
}
