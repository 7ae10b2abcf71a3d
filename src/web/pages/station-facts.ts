import { nextRefreshText, type StationStatus, type UpstreamStatus } from '../../inventory/station-status.ts';
import { durationText, numberText } from '../../inventory/words.ts';
import type { StationSpec } from '../../model/station-spec.ts';
import type { Snapshot } from '../../refresh/snapshot.ts';
import { probePath } from '../routes.ts';
import { facts, type Html, html } from './html.ts';
import { loadList } from './upstream-load.ts';

/** Where the station is, and how it is refreshed. */
export function stationFacts(
  { name, path, labels }: StationSpec,
  status: StationStatus,
  upstream: UpstreamStatus,
  nowMs: number,
): Html {
  const shown = Object.entries(labels).map(([label, value]) => html`<code>${label}="${value}"</code> `);
  return facts('question', [
    ['Upstream', upstream.name],
    ['Load', loadList(upstream, nowMs)[0]],
    ['Subscription', path.subscription],
    ['Resource group', path.resourceGroup],
    ['Zone', path.zone],
    ['Telemetry station', path.telemetryStation],
    ['Labels', shown.length === 0 ? undefined : html`${shown}`],
    ['Latest refresh', status.durationMs === undefined ? 'not tried yet' : `took ${durationText(status.durationMs)}`],
    ['Next refresh', nextRefreshText(status)],
    [
      'Requests',
      status.isHanging
        ? html`<span class="no">hanging</span>: one probing request at a time until the service replies`
        : undefined,
    ],
    ['Metrics', html`<a href="../${probePath(name)}">this station only</a>`],
    ['JSON', html`<a href="?format=json">this station only</a>`],
  ]);
}

/** What the listing returned, and whether it is verified complete. */
export function listingFacts(snapshot: Snapshot): Html {
  const { size, complete, incompleteReasons, reportedTotal, pages, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  return facts('story', [
    ['Completeness', complete ? 'verified complete' : html`<span class="no">not verified complete</span>`],
    [
      'Reasons',
      incompleteReasons.length === 0
        ? undefined
        : html`<ul>${incompleteReasons.map((reason) => html`<li>${reason}</li>`)}</ul>`,
    ],
    ['Unique resources', numberText(size)],
    ['Reported total', reportedTotal === undefined ? 'not reported' : numberText(reportedTotal)],
    ['Pages', `${numberText(pages)} (all listings)`],
    ['Duplicate records', numberText(duplicates)],
    ['Rejected records', `${numberText(rejected)} (without a usable resource_id)`],
    ['Invalid fields', invalid.length === 0 ? 'none' : html`<ul>${fields}</ul>`],
  ]);
}
