import { describe, expect, it } from 'vitest';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { READS_EACH_RESOURCE } from '../../grafana/source/resource-table.ts';
import { dashboardsReference, panelCosts } from '../../scripts/reference/dashboards.ts';

describe('dashboardsReference', () => {
  it('matches grafana/README.md', async () => {
    await expect(dashboardsReference()).toMatchFileSnapshot('../../grafana/README.md');
  });
});

describe('panelCosts', () => {
  it.each(Object.entries(dashboards))(
    'exceeds 10,000 series only for panels described as per-resource: %s',
    (_, dashboard) => {
      const perResource = new Set(
        (dashboard.panels ?? [])
          .flatMap((panel) => ('panels' in panel ? panel.panels : [panel]))
          .filter((panel) => 'description' in panel && panel.description?.includes(READS_EACH_RESOURCE))
          .map(({ title }) => title),
      );
      expect(panelCosts(dashboard).filter(({ panel, series }) => series > 10_000 !== perResource.has(panel))).toEqual(
        [],
      );
    },
  );
});
