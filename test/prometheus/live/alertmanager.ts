import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { startDaemon } from '../../daemon.ts';

/** What a receiver gets: the alerts of one group. */
export interface Notification {
  readonly receiver: string;
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved';
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

/** The Alertmanager on the PATH with the example configuration, whose receivers are webhooks. `minuteS`: one minute of its intervals, in seconds. */
export async function startAlertmanager(minuteS: number) {
  const notifications: Notification[] = [];
  const webhook = createServer(async (request, response) => {
    notifications.push((await json(request)) as Notification);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  const { port } = webhook.address() as AddressInfo;
  const isStartDelayed = knowsStartDelay();
  const config = exampleWith(`http://127.0.0.1:${port}/`, minuteS);
  const delay = isStartDelayed ? [`${START_DELAY}=${minuteS * shippedStartDelayMinutes()}s`] : [];
  const daemon = await startAlertmanagerWith(config, delay);
  return {
    url: daemon.url,
    target: new URL(daemon.url).host,
    /** Whether its version has the flag of the compose file. */
    isStartDelayed,
    /** In order of arrival. */
    notifications,
    restart: daemon.restart,
    /** Alerts that fire, as Prometheus sends them. */
    send: async (
      alerts: readonly { readonly labels: Readonly<Record<string, string>>; readonly startsAt?: string }[],
    ) => {
      const response = await fetch(`${daemon.url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      if (response.status !== 200) throw new Error(`expected status 200, got ${response.status}`);
    },
    stop: async () => {
      await daemon.stop();
      webhook.close();
      webhook.closeAllConnections();
    },
  };
}

export function startAlertmanagerWith(config: string, flags: readonly string[] = []) {
  return startDaemon({
    command: COMMAND,
    debianPackage: COMMAND,
    files: { 'alertmanager.yml': config },
    flags: (folder, address) => [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
      ...flags,
    ],
  });
}

/** Debian's name of the program and of its package. */
const COMMAND = 'prometheus-alertmanager';

const START_DELAY = '--dispatch.start-delay';

/** Version 0.30 and later. */
function knowsStartDelay(): boolean {
  const { stdout, stderr } = spawnSync(COMMAND, ['--help'], { encoding: 'utf8' });
  return `${stdout}${stderr}`.includes(START_DELAY);
}

function shippedStartDelayMinutes(): number {
  const compose = readFileSync(new URL('compose.yaml', COMPOSE), 'utf8');
  const [, minutes] = new RegExp(`${START_DELAY}=(\\d+)m\\b`).exec(compose) ?? [];
  return Number(minutes);
}

const COMPOSE = new URL('../../../deploy/compose/', import.meta.url);

function exampleWith(url: string, minuteS: number): string {
  const { route, receivers, ...rest } = parse(
    readFileSync(new URL('../../../prometheus/alertmanager.yml', import.meta.url), 'utf8'),
  ) as {
    route: object;
    receivers: { name: string }[];
  };
  return stringify({
    ...rest,
    route: { ...route, group_wait: `${minuteS * 500}ms`, group_interval: `${minuteS * 5}s` },
    receivers: receivers.map(({ name }) => ({ name, webhook_configs: [{ url }] })),
  });
}
