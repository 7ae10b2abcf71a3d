import { NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import { configOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { realisticEntries, TEAMS } from './realistic-names.ts';

/** A reply of the service with a word that is wider than a phone. */
const LONG_REPLY = JSON.stringify({
  msg: '系统维护中，请稍后再试',
  see: `https://cms.example/err/${'50300'.repeat(12)}`,
});

/** Stations with changes and withheld series; a refresh of the first one failed, one was incomplete, and the last was postponed. */
export async function startIncident(names: readonly string[]) {
  const service = await startTestService({ source: () => realisticEntries(120) });
  const station = { products: ['product.lepton-acp-new', 'product.slb'], alertability: true };
  const upstream = { page_size: 100, refresh_timeout: '30s', max_retries: 1 };
  const resource_labels = TEAMS.map((team) => ({ match: { display_name: `${team}-.*` }, labels: { team } }));
  const config = configOf(service.url, names, { station, upstream, labels: resource_labels });
  const exporter = await startReadyExporter({ ...config, metrics: { max_firing_resources: 2 } });
  for (const name of names)
    service.setRecords(
      name,
      realisticEntries(110).map(({ record, ...entry }, at) => ({
        ...entry,
        record: at % 17 === 0 ? { ...Object(record), state: 'ALERTSTATE_NODATA', alert_rules_count: 12_345 } : record,
      })),
    );
  await exporter.scrape();
  const postpone = replyWith(429, { 'retry-after': '600' }, LONG_REPLY);
  for (const fault of [replyWith(500, {}, LONG_REPLY), NAMED_FAULTS.missing_ids, postpone]) {
    service.setFaults('*', [fault]);
    await exporter.scrape(`/probe?${new URLSearchParams({ station: names[0] ?? '' })}`);
  }
  return exporter;
}
