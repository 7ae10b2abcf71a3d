import { describe, expect, it } from 'vitest';
import { resourceTable } from '../../src/cli/resource-table.ts';
import { columnsWith, RESOURCE_COLUMNS } from '../../src/resources/fields.ts';
import { resourceOf } from '../stations/fixtures.ts';
import { BARE, PLAIN } from '../text/listed-resources.ts';

describe('resourceTable', () => {
  it('prints a line per resource', () => {
    expect([...resourceTable([PLAIN, BARE], columnsWith([]), undefined).lines].join('')).toBe(
      [
        'ID  NAME  DISPLAY NAME  TYPE                     PRODUCT    STATE              ALERT STATE  ALERTABLE  RULES  CREATED                   SKU    GPU MODEL',
        'r1  ws-1  训练平台-01   resource_type.compute.x  product.x  ALERTSTATE_FIRING  firing       yes           12  2024-05-01T12:00:00.500Z  2 GPU  N4lS',
        'r2                                                                             unknown      unknown',
        '',
      ].join('\n'),
    );
  });

  it('keeps the cells of labels apart that are named like a column, or like another label', () => {
    const labels = { rules: 'strict', Team: 'a', team: 'b' };
    const { lines } = resourceTable([{ ...PLAIN, labels }], columnsWith(Object.keys(labels)), undefined);
    expect(Array.from(lines, (line) => line.split(/ {2,}/).slice(-3).join('  '))).toEqual([
      'RULES  TEAM  TEAM\n',
      'strict  a  b\n',
    ]);
  });

  const screen = (columns: number) => ({ columns, hasColours: false });

  it('shows short names and times, and omits what does not fit', () => {
    const { lines, omitted } = resourceTable([PLAIN, BARE], columnsWith([]), screen(64));
    expect([...lines].join('')).toBe(
      [
        'ID  NAME  DISPLAY NAME  TYPE  STATE     ALERT STATE  RULES',
        'r1  ws-1  训练平台-01   x     Firing    firing          12',
        'r2                            no state  unknown',
        '',
      ].join('\n'),
    );
    expect(omitted).toEqual(['PRODUCT', 'ALERTABLE', 'CREATED', 'SKU', 'GPU MODEL']);
  });

  it.each([
    ['ALERTSTATE_FIRING', 'Firing  \u001b[31mfiring\u001b[0m'],
    ['ALERTSTATE_PENDING', 'Pending  \u001b[33mpending\u001b[0m'],
    ['ALERTSTATE_INACTIVE', 'Inactive  \u001b[32minactive\u001b[0m'],
    ['constructor', 'constructor  unknown'],
  ])('shows the state %s in the colour of its meaning: %j', (state, cells) => {
    const { state: stateColumn, alert_state } = RESOURCE_COLUMNS;
    const columns = { state: stateColumn, alert_state };
    const { lines } = resourceTable([resourceOf('r1', { state })], columns, { columns: 80, hasColours: true });
    expect([...lines][1]).toBe(`${cells}\n`);
  });
});
