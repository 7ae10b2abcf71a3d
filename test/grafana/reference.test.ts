import { describe, expect, it } from 'vitest';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { READS_EACH_RESOURCE } from '../../grafana/source/per-resource.ts';
import { runbookIndex } from '../../prometheus/source/runbook-index.ts';
import { costsOf } from '../../scripts/grafana/cost.ts';
import { dashboardsReference } from '../../scripts/grafana/reference.ts';

describe('dashboardsReference', () => {
  it('is what grafana/README.md says', async () => {
    await expect(dashboardsReference()).toMatchFileSnapshot('../../grafana/README.md');
  });
});

describe('runbookIndex', () => {
  it('is what docs/runbooks/README.md says', async () => {
    await expect(runbookIndex()).toMatchFileSnapshot('../../docs/runbooks/README.md');
  });
});

describe('costsOf', () => {
  it.each(Object.entries(dashboards))('is below 10,000 series for panels that do not say otherwise: %s', (_, dashboard) => {
    const saying = new Set(
      (dashboard.panels ?? [])
        .filter((panel) => 'description' in panel && panel.description?.includes(READS_EACH_RESOURCE))
        .map(({ title }) => title),
    );
    expect(costsOf(dashboard).filter(({ panel, series }) => series > 10_000 !== saying.has(panel))).toEqual([]);
  });
});
