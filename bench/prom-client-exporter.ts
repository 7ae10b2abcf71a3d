import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Gauge, Registry } from 'prom-client';
import { processStats, serveMethods } from './child.ts';
import { type FleetShape, pageBody, stationNames } from './fleet.ts';

export interface PromClientMethods {
  start(shape: FleetShape): number;
  cpu(): number;
  resident(): number;
}

interface WireRecord {
  readonly resource_type: { readonly key: string };
  readonly [field: string]: unknown;
}

/** The baseline: a straightforward exporter that sets every gauge and compresses the text on each scrape. */
serveMethods({
  ...processStats,
  start: async (shape: FleetShape) => {
    const fleet = stationNames(shape).map((station) => ({
      station,
      records: (JSON.parse(pageBody(shape, station, 0, shape.resourcesPerStation, 0)) as { resources: WireRecord[] })
        .resources,
    }));
    const server = createServer(async (_request, response) => {
      const body = gzipSync(await render(fleet), { level: 1 });
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': body.length }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
});

async function render(fleet: readonly { station: string; records: readonly WireRecord[] }[]): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, ...labels: string[]) =>
    new Gauge({ name, help: name, labelNames: ['station', 'resource_id', 'name', ...labels], registers: [registry] });
  const info = gauge('resource_info', 'display_name', 'resource_type', 'product', 'sku', 'gpu_model', 'alertable');
  const state = gauge('resource_state', 'state');
  const rules = gauge('resource_alert_rules');
  const created = gauge('resource_created_timestamp_seconds');
  const quantity = gauge('resource_sku_quantity', 'unit');
  for (const { station, records } of fleet) {
    for (const record of records) {
      const identity = { station, resource_id: String(record['resource_id']), name: String(record['name']) };
      const [amount = '', unit = ''] = String(record['sku']).split(' ');
      const described = { display_name: String(record['display_name']), resource_type: record.resource_type.key };
      info.set(
        {
          ...identity,
          ...described,
          product: '',
          sku: String(record['sku']),
          gpu_model: String(record['gpu_model']),
          alertable: '',
        },
        1,
      );
      state.set({ ...identity, state: String(record['state']) }, 1);
      rules.set(identity, Number(record['alert_rules_count']));
      created.set(identity, Date.parse(String(record['create_time'])) / 1000);
      quantity.set({ ...identity, unit }, Number(amount));
    }
  }
  return registry.metrics();
}
