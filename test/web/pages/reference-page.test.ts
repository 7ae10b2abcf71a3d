import { describe, expect, it } from 'vitest';
import { FAMILY_DESCRIPTIONS } from '../../../src/metrics/catalogue.ts';
import { openPage, rowsOf } from './opened-page.ts';

describe('referencePage', () => {
  it('shows name, type, labels, help and an example of every family, each with its own anchor', async () => {
    const { status, headers, body, tags } = await openPage({}, '/reference');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).not.toContain('script-src');
    expect(tags.flatMap(({ name, attributes }) => (name === 'tr' ? (attributes['id'] ?? []) : []))).toEqual(
      FAMILY_DESCRIPTIONS.map(({ name }) => name),
    );
    expect(rowsOf(body, 'families')).toEqual(
      FAMILY_DESCRIPTIONS.map(({ name, type, labels, help, exampleTitle, example }) =>
        `${name} ${type} ${labels.join(', ')} ${help} ${exampleTitle}: ${example}`.replaceAll(/\s+/g, ' '),
      ),
    );
    // Long names can be broken after underscores.
    expect(body).toContain('href="#telemetry_station_up">telemetry_<wbr>station_<wbr>up</a>');
  });
});
