import { describe, expect, it } from 'vitest';
import { resourcesOf } from '../../stations/fixtures.ts';
import { detailOf, exporterOf, STATION } from '../fake-station.ts';
import { openPage, rowsOf } from './opened-page.ts';

/** A station of so many types, of which those with a higher number have more resources that are not covered. */
const stationOf = (types: number) =>
  exporterOf(
    detailOf(
      resourcesOf((types * (types + 1)) / 2, (index) => ({
        type: `type.${Math.ceil((Math.sqrt(8 * (index + 1) + 1) - 1) / 2)}`,
        alertRules: 0,
      })),
    ),
  );

const COLUMNS = ['Oldest', 'Not covered', 'Unknown age', 'Unknown', 'Covered', 'Exempt'];

describe('the page of the coverage', () => {
  it('shows the hundred most urgent rows of a table, and how many more there are', async () => {
    const { text, body } = await openPage(stationOf(102), '/coverage');
    const rows = rowsOf(body, 'by-type');
    expect(rows).toHaveLength(100);
    expect([rows[0]?.split(' ')[0], rows.at(-1)?.split(' ')[0]]).toEqual(['102', '3']);
    expect(text).toContain('2 more are in the downloads.');
  });

  it('has a dash where the coverage is unknown of all, and not 0', async () => {
    const unknown = exporterOf(detailOf(resourcesOf(2, () => ({ alertRules: undefined, type: '' }))));
    const { body } = await openPage(unknown, '/coverage');
    expect(rowsOf(body, 'by-type', ['Type', ...COLUMNS])).toEqual([
      '(none) – none – not reported – not reported 2 – not reported 0',
    ]);
    const { body: none } = await openPage(
      { ...unknown, stations: () => [{ ...STATION, snapshot: undefined }] },
      '/coverage',
    );
    expect(rowsOf(none, 'by-station', ['Station', ...COLUMNS])).toEqual([
      'prod – none – no data – no data – no data – no data – no data',
    ]);
  });

  it('links the numbers of resources by their coverage to lists of as many', async () => {
    const uncovered = resourcesOf(2, () => ({ alertRules: 0, type: 'type.a' }));
    const unknown = resourcesOf(3, (index) => ({ id: `u${index}`, alertRules: undefined, type: 'type.a' }));
    const covered = resourcesOf(4, (index) => ({ id: `c${index}`, alertRules: 1, type: 'type.a' }));
    const exporter = exporterOf(detailOf([...uncovered, ...unknown, ...covered]));
    const { hrefs } = await openPage(exporter, '/coverage');
    const listed = async (query: string) => {
      expect(hrefs).toContain(`./search${query}`);
      return openPage(exporter, `/search${query}`);
    };
    const { text, body } = await listed('?without_rules=unknown&type=type.a');
    expect(text).toContain('3 resources of 1 station match');
    expect(body).toContain('name="without_rules" type="checkbox" value="unknown" checked> Unknown alert coverage');
    const notCovered = await listed('?without_rules=yes&type=type.a&sort=created');
    expect(notCovered.text).toContain('2 resources of 1 station match');
    const withRules = await listed('?without_rules=no&type=type.a');
    expect(withRules.text).toContain('4 resources of 1 station match');
    expect(withRules.body).toContain('name="without_rules" type="checkbox" value="no" checked> With alert rules');
  });

  it('has no filters', async () => {
    const { status, text } = await openPage(stationOf(1), '/coverage?team=web');
    expect([status, text]).toEqual([400, expect.stringContaining('Unknown parameter "team"')]);
  });
});
