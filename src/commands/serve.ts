import { on, once } from 'node:events';
import { isIPv6 } from 'node:net';
import { Exporter } from '../app/exporter.ts';
import { accessWarnings, loadAccessRules } from '../app/web-access.ts';
import { type FlagValues, ownShard } from '../cli/flags.ts';
import { OperatorError } from '../cli/operator-error.ts';
import { configFingerprint } from '../config/config-fingerprint.ts';
import type { LoadResult } from '../config/load.ts';
import { createLogger, type Logger } from '../journal/logger.ts';
import { hasElapsed, untilAborted } from '../tasks/until-aborted.ts';
import type { AccessRules } from '../web/access/rules.ts';
import { watchRules } from '../web/access/watch-rules.ts';
import { createApp } from '../web/app.ts';
import { isEndpoint } from '../web/routes.ts';
import { listen } from '../web/server.ts';
import { loadInputs, withConfig } from './config-source.ts';
import { type ProcessContext, terminationSignal } from './process-context.ts';

const DRAIN_MS = 1500;

/** Serves metrics until a termination signal. Signals are handled from the start: a SIGHUP before the exporter runs reloads it once it does. */
export async function serve(context: ProcessContext, flags: FlagValues): Promise<void> {
  const end = terminationSignal(context);
  const hangups = on(context.signals, 'SIGHUP');
  try {
    await withConfig(context, flags, (load) => serveConfig(context, flags, load, end, hangups));
  } catch (error) {
    // The signal arrived while the configuration was loaded.
    if (!end.aborted || error !== end.reason) throw error;
  }
}

async function serveConfig(
  context: ProcessContext,
  flags: FlagValues,
  load: () => Promise<LoadResult>,
  end: AbortSignal,
  hangups: AsyncIterable<unknown>,
): Promise<void> {
  const own = ownShard(flags, context.hostName);
  if (!own.ok) throw new OperatorError([own.problem]);
  const { shard } = own;
  const telemetryPath = flags['web.telemetry-path'];
  if (isEndpoint(telemetryPath))
    throw new OperatorError([`--web.telemetry-path: ${telemetryPath} is another endpoint, expected another path`]);
  const fingerprint = configFingerprint(flags['config.file'], context.env);
  const intervalMs = flags.demo ? 0 : flags['config.auto-reload-interval'];
  const loaded = intervalMs > 0 ? await fingerprint() : undefined;
  const inputs = await untilAborted(loadInputs(load, flags['web.config.file']), end);
  const log = createLogger({ level: flags['log.level'], format: flags['log.format'], write: context.printError });
  context.logOutput.onResumed((lines) => log.warn('log lines dropped', { lines }));
  log.info('configuration loaded', {
    config: flags.demo ? 'demo' : flags['config.file'],
    stations: inputs.loaded.config.stations.length,
    upstreams: Object.keys(inputs.loaded.config.upstreams).length,
  });
  const exporter = new Exporter(inputs.loaded, {
    load,
    build: context.build,
    shard,
    log,
    processMetrics: true,
    logChanges: flags['log.changes'],
  });
  const reload = () => exporter.reload().catch(reportInternalError(log));
  void reloadAfter(hangups, reload);
  if (loaded !== undefined) {
    const tick = () => hasElapsed(intervalMs, end);
    void autoReload(loaded, fingerprint, reload, tick).catch(reportInternalError(log));
  }
  try {
    await serveUntil(end, exporter, inputs.rules, flags, context, log);
  } finally {
    await exporter.close();
  }
}

async function reloadAfter(hangups: AsyncIterable<unknown>, reload: () => Promise<unknown>): Promise<void> {
  for await (const _hangup of hangups) void reload();
}

/**
 * Reloads after each tick that finds another fingerprint of the files than before, until there is none. A rejected change is not loaded
 * again until the files change again. `loaded`: the fingerprint before the files were first loaded.
 */
export async function autoReload(
  loaded: string,
  fingerprint: () => Promise<string>,
  reload: () => Promise<unknown>,
  tick: () => Promise<boolean>,
): Promise<void> {
  let known = loaded;
  while (await tick()) {
    const found = await fingerprint();
    if (found === known) continue;
    known = found;
    await reload();
  }
}

/** Listens before the stations are built: a health check must not wait for tens of thousands of them. */
async function serveUntil(
  end: AbortSignal,
  exporter: Exporter,
  access: AccessRules,
  flags: FlagValues,
  { build, webConfigIntervalMs }: ProcessContext,
  log: Logger,
): Promise<void> {
  let rules = access;
  const webConfigFile = flags['web.config.file'];
  const warnOfAccess = () => {
    for (const warning of accessWarnings(webConfigFile, rules)) log.warn('web configuration warning', { warning });
  };
  warnOfAccess();
  const externalUrl = flags['web.external-url'];
  const observer = exporter.webObserver();
  const app = createApp(exporter, {
    telemetryPath: flags['web.telemetry-path'],
    ...(externalUrl && { externalUrl }),
    enableLifecycle: flags['web.enable-lifecycle'],
    maxRequests: flags['web.max-requests'],
    scrapeTimeoutMs: flags['scrape.timeout'],
    timeoutOffsetMs: flags['timeout-offset'],
    version: build.version,
    access: () => rules,
    observer,
    now: Date.now,
    report: reportInternalError(log),
  });
  const limits = { maxConnections: flags['web.max-connections'] };
  const server = await listen(app, flags['web.listen-address'], { tls: rules.tls, limits, observer }).catch(
    (error: Error) => {
      throw new OperatorError([`${error.message}; --web.listen-address sets the address`], error);
    },
  );
  for (const { address, port } of server.addresses) {
    const url = (externalUrl ?? localUrl(address, port, rules.tls !== undefined)).href;
    log.info('listening', { address, port, tls: rules.tls !== undefined, url, version: build.version });
  }
  if (flags.demo) log.info('demo is running, press Ctrl-C to stop it');
  void watchRules({
    rules,
    load: () => loadAccessRules(webConfigFile),
    apply: (next) => {
      rules = next;
      warnOfAccess();
      if (next.tls) server.updateTls(next.tls);
      log.info('web configuration reloaded');
    },
    report: (problem) => log.error('web configuration reload failed', { problem }),
    reloaded: (problems) => exporter.recordReload('web', problems),
    signal: end,
    ...(webConfigIntervalMs !== undefined && { intervalMs: webConfigIntervalMs }),
  }).catch(reportInternalError(log));
  try {
    await untilAborted(exporter.start(), end);
    await once(end, 'abort');
  } catch (error) {
    if (!end.aborted) throw error;
  } finally {
    if (end.aborted) log.info('shutting down', { signal: end.reason });
    // Scrapes that wait for a refresh respond with the current snapshot.
    await exporter.close();
    await server.close(DRAIN_MS);
  }
}

function localUrl(address: string, port: number, isSecure: boolean): URL {
  const isAnyAddress = address === '::' || address === '0.0.0.0';
  const host = isIPv6(address) ? `[${address}]` : address;
  return new URL(`http${isSecure ? 's' : ''}://${isAnyAddress ? 'localhost' : host}:${port}/`);
}

/** Logs an error of the exporter itself; the process continues. */
function reportInternalError(log: Logger): (error: unknown) => void {
  return (error) => log.error('internal error (exporter bug)', { error });
}
