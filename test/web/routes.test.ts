import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelText } from '../../src/model/values.ts';
import { isEndpoint, ROUTES, resourcePath, stationPath } from '../../src/web/routes.ts';
import { resourceOf } from '../stations/fixtures.ts';
import { detailOf, exporterOf } from './fake-station.ts';
import { startApp } from './running-app.ts';

describe('isEndpoint', () => {
  it.each(Object.values(ROUTES))('is true of %s, which cannot be the telemetry path', (path) => {
    expect(isEndpoint(path.replaceAll(':', ''))).toBe(true);
  });

  it.each(['/metrics', '/station', '/stations-metrics', '/probe/metrics'])('is false of %s', (path) => {
    expect(isEndpoint(path)).toBe(false);
  });
});

describe('stationPath', () => {
  it('encodes a lone surrogate as U+FFFD', () => {
    expect(stationPath('\uD800')).toBe('stations/%EF%BF%BD');
  });
});

describe('resourcePath', () => {
  it.each(['.', '..'])('is undefined for the ID %s, which browsers resolve as a path step', (id) => {
    expect(resourcePath('a', id)).toBeUndefined();
  });

  it('leads to the page of any resource ID', async () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1000 }).map(labelText);
    let detail = detailOf([]);
    const { request } = await startApp({ station: (name) => (name === detail.spec.name ? detail : undefined) });
    await fc.assert(
      fc.asyncProperty(id, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), async (resource, station) => {
        const path = resourcePath(station, resource);
        fc.pre(path !== undefined && path.length < 4000);
        detail = detailOf([resourceOf(resource)], { spec: { name: station.toWellFormed() } });
        expect(new URL(`http://a/x/${path}`).pathname).toBe(`/x/${path}`);
        expect((await request(`/${path}`)).status).toBe(200);
      }),
    );
  });

  it('stays within the URL limit for an ID of 1,024 bytes', async () => {
    const id = labelText('字'.repeat(1000));
    const { request } = await startApp(exporterOf(detailOf([resourceOf(id)])));
    expect((await request(`/${resourcePath('prod', id)}`)).status).toBe(200);
  });
});
