import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { startDaemon } from './daemon.ts';

interface Notification {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The inhibition of the example configuration. */
const { inhibit_rules } = parse(
  readFileSync(new URL('../../../deploy/compose/alertmanager.yml', import.meta.url), 'utf8'),
);

/** Debian's Alertmanager with the shipped inhibition; `notifications` are those it sent to a webhook for one alert. */
export async function startAlertmanager(alertname: string) {
  const notifications: Notification[] = [];
  const webhook = createServer(async (request, response) => {
    const { alerts } = (await json(request)) as { alerts: Notification[] };
    notifications.push(...alerts);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  const { port } = webhook.address() as AddressInfo;
  const grouping = { group_wait: '0s', group_interval: '1s', group_by: ['...'] };
  const config = {
    route: { receiver: 'none', ...grouping, routes: [{ receiver: 'webhook', matchers: [`alertname="${alertname}"`] }] },
    inhibit_rules,
    receivers: [{ name: 'none' }, { name: 'webhook', webhook_configs: [{ url: `http://127.0.0.1:${port}/` }] }],
  };
  const daemon = await startDaemon({
    command: 'prometheus-alertmanager',
    debianPackage: 'prometheus-alertmanager',
    files: { 'alertmanager.yml': stringify(config) },
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
    notifications,
    stop: async () => {
      await daemon.stop();
      webhook.close();
      webhook.closeAllConnections();
    },
  };
}
