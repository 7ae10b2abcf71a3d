import { type EventEmitter, once } from 'node:events';
import { check } from './check.ts';
import type { FlagValues } from './cli/flags.ts';
import { helpText, versionText } from './cli/help.ts';
import { ownShard } from './cli/own-shard.ts';
import { parseFlags } from './cli/parse.ts';
import { simulate } from './cli/simulate.ts';
import { type LoadResult, loadConfig } from './config/load.ts';
import { loadConfigFile } from './config-file.ts';
import { startDemo } from './demo/demo.ts';
import { Exporter } from './exporter.ts';
import { loadInputs } from './inputs.ts';
import { createLogger, type Logger } from './logger.ts';
import type { Build } from './metrics/own-metrics.ts';
import { followRules } from './web/access/follow.ts';
import type { AccessRules } from './web/access/rules.ts';
import { createApp } from './web/app.ts';
import { listen } from './web/server.ts';
import { loadAccessRules } from './web-access.ts';

/** What the program needs of the process it runs in. */
export interface Surface {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  readonly signals: EventEmitter;
  readonly hostName: string;
  readonly build: Build;
}

/** How long responses under way may take to finish once the process was told to end. */
const DRAIN_MS = 1500;

/** Runs until the work is done or a signal ends it; resolves with the exit code. */
export async function runProgram(surface: Surface): Promise<number> {
  const parsed = parseFlags(surface.argv);
  if (!parsed.ok) return complain(surface, [...parsed.problems, 'try --help']);
  const { flags, command } = parsed;
  if (flags.help) return say(surface, helpText());
  if (flags.version) return say(surface, versionText(surface.build));
  if (command === 'simulate') {
    const options = { port: flags['simulate.port'], seed: flags['simulate.seed'], print: surface.print, signal: endOf(surface) };
    return settle(surface, simulate(options));
  }
  if (command === 'check' || flags['config.check']) return check(surface, flags, endOf(surface));
  return settle(
    surface,
    flags.demo ? serveDemo(surface, flags) : serve(surface, flags, () => loadConfigFile(flags['config.file'], surface.env)),
  );
}

async function serveDemo(surface: Surface, flags: FlagValues): Promise<void> {
  const { service, config } = await startDemo();
  try {
    await serve(surface, flags, async () => loadConfig({ file: 'demo.yaml', text: config, env: surface.env }));
  } finally {
    await service.stop();
  }
}

async function serve(surface: Surface, flags: FlagValues, load: () => Promise<LoadResult>): Promise<void> {
  const own = ownShard(flags, surface.hostName);
  if (!own.ok) throw new OperatorError([own.problem]);
  const inputs = await loadInputs(load, flags['web.config.file']);
  if (!inputs.ok) throw new OperatorError(inputs.problems);
  const log = createLogger({ level: flags['log.level'], format: flags['log.format'], write: surface.printError });
  const end = endOf(surface);
  const exporter = await Exporter.start(inputs.loaded, { load, build: surface.build, shard: own.shard, log, processMetrics: true });
  const reload = () => void exporter.reload().catch(faultReport(log));
  surface.signals.on('SIGHUP', reload);
  try {
    await serveUntil(end, exporter, inputs.rules, flags, surface.build, log);
  } finally {
    surface.signals.off('SIGHUP', reload);
    await exporter.close();
  }
}

async function serveUntil(
  end: AbortSignal,
  exporter: Exporter,
  access: AccessRules,
  flags: FlagValues,
  build: Build,
  log: Logger,
): Promise<void> {
  let rules = access;
  const externalUrl = flags['web.external-url'];
  const app = createApp(exporter, {
    telemetryPath: flags['web.telemetry-path'],
    ...(externalUrl && { externalUrl }),
    enableLifecycle: flags['web.enable-lifecycle'],
    maxRequests: flags['web.max-requests'],
    scrapeTimeoutMs: flags['scrape.timeout'],
    timeoutOffsetMs: flags['timeout-offset'],
    version: build.version,
    access: () => rules,
    report: faultReport(log),
  });
  const server = await listen(app, flags['web.listen-address'], { tls: rules.tls }).catch((error: Error) => {
    throw new OperatorError([error.message], error);
  });
  for (const { address, port } of server.addresses)
    log.info('listening', { address, port, tls: rules.tls !== undefined, version: build.version });
  void followRules({
    rules,
    load: () => loadAccessRules(flags['web.config.file']),
    apply: (next) => {
      rules = next;
      if (next.tls) server.secure(next.tls);
      log.info('the web configuration was read again');
    },
    complain: (problem) => log.error('the web configuration was not read again', { problem }),
    signal: end,
  });
  if (!end.aborted) await once(end, 'abort');
  log.info('ending', { signal: end.reason });
  // Scrapes that wait for a refresh answer with what there is.
  await exporter.close();
  await server.close(DRAIN_MS);
}

/** A fault of ours ends what it was met in, and nothing else. */
function faultReport(log: Logger): (error: unknown) => void {
  return (error) => log.error('the exporter itself is at fault', { error });
}

/** The operator's mistake: told in plain words, without a stack. */
class OperatorError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join('\n'), { cause });
    this.problems = problems;
  }
}

async function settle(surface: Surface, work: Promise<void>): Promise<number> {
  try {
    await work;
    return 0;
  } catch (error) {
    if (error instanceof OperatorError) return complain(surface, error.problems);
    // A port that is taken or not allowed is for the operator to know.
    if (error instanceof Error && 'syscall' in error && error.syscall === 'listen')
      return complain(surface, [`cannot serve: ${error.message}`]);
    throw error;
  }
}

/** Aborts with the name of the first signal that asks the process to end; a second one is not listened to, so that it ends at once. */
function endOf({ signals }: Surface): AbortSignal {
  const controller = new AbortController();
  const listeners = ['SIGTERM', 'SIGINT'].map((name) => ({ name, listener: () => end(name) }));
  const end = (reason: string) => {
    for (const { name, listener } of listeners) signals.off(name, listener);
    controller.abort(reason);
  };
  for (const { name, listener } of listeners) signals.on(name, listener);
  return controller.signal;
}

function say({ print }: Surface, text: string): number {
  print(text);
  return 0;
}

function complain({ printError }: Surface, lines: readonly string[]): number {
  for (const line of lines) printError(`${line}\n`);
  return 1;
}
