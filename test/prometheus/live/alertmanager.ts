import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { startDaemon } from './daemon.ts';

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

/**
 * Debian's Alertmanager with the example configuration, whose receivers are webhooks. `minuteS`: one minute of its intervals, in seconds.
 */
export async function startAlertmanager(minuteS: number) {
  const notifications: Notification[] = [];
  const webhook = createServer(async (request, response) => {
    notifications.push((await json(request)) as Notification);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  const { port } = webhook.address() as AddressInfo;
  const daemon = await startDaemon({
    command: 'prometheus-alertmanager',
    debianPackage: 'prometheus-alertmanager',
    files: { 'alertmanager.yml': exampleWith(`http://127.0.0.1:${port}/`, minuteS) },
    flags: (folder, address) => [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
  });
  return {
    url: daemon.url,
    target: new URL(daemon.url).host,
    /** In order of arrival. */
    notifications,
    stop: async () => {
      await daemon.stop();
      webhook.close();
      webhook.closeAllConnections();
    },
  };
}

function exampleWith(url: string, minuteS: number): string {
  const file = new URL('../../../deploy/compose/alertmanager.yml', import.meta.url);
  const { route, receivers, ...rest } = parse(readFileSync(file, 'utf8')) as {
    route: object;
    receivers: { name: string }[];
  };
  return stringify({
    ...rest,
    route: { ...route, group_wait: `${minuteS * 500}ms`, group_interval: `${minuteS * 5}s` },
    receivers: receivers.map(({ name }) => ({ name, webhook_configs: [{ url }] })),
  });
}
