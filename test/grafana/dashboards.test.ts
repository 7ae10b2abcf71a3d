import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboards } from '../../grafana/source/dashboards.ts';

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);

describe('dashboards', () => {
  it.each(Object.entries(dashboards))('are what grafana/dashboards/%s says', async (file, dashboard) => {
    await expect(`${JSON.stringify(dashboard, null, 2)}\n`).toMatchFileSnapshot(new URL(file, FOLDER).pathname);
  });

  it('are all the files there are', () => {
    expect(readdirSync(FOLDER).filter((file) => file.endsWith('.json'))).toEqual(Object.keys(dashboards).sort());
  });
});
