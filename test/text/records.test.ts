import { describe, expect, it } from 'vitest';
import { RESOURCE_COLUMNS, type Resource } from '../../src/resources/fields.ts';
import { csvPieces, jsonPieces } from '../../src/text/records.ts';
import { BARE, PLAIN } from './listed-resources.ts';

const FORMATS = { json: jsonPieces, csv: csvPieces } as const;

const shown = (format: keyof typeof FORMATS, ...resources: Resource[]) =>
  [...FORMATS[format](RESOURCE_COLUMNS, resources)].join('');

describe('jsonPieces', () => {
  it('prints an array with a line per resource, all with the same keys', () => {
    expect(shown('json', PLAIN, BARE).split('\n')).toEqual([
      '[',
      '{"resource_id":"r1","name":"ws-1","display_name":"训练平台-01","resource_type":"resource_type.compute.x","resource_type_label":"Type A","product":"product.x","state":"ALERTSTATE_FIRING","alert_state":"firing","alertable":true,"alert_rules":12,"created":"2024-05-01T12:00:00.500Z","sku":"2 GPU","sku_quantity":2,"sku_unit":"GPU","gpu_model":"N4lS"},',
      '{"resource_id":"r2","name":"","display_name":"","resource_type":"","resource_type_label":"","product":"","state":"","alert_state":"unknown","alertable":null,"alert_rules":null,"created":null,"sku":"","sku_quantity":null,"sku_unit":null,"gpu_model":""}',
      ']',
      '',
    ]);
    expect(shown('json')).toBe('[]\n');
  });

  it('escapes control characters without changing the data', () => {
    const displayName = 'a\u001b[2J\u009b1m\u202e\u2028\u{e0041}"\\\n';
    const text = shown('json', { ...PLAIN, displayName });
    expect(text).not.toMatch(/[^\P{C}\n]|[\u2028]/u);
    expect(JSON.parse(text)).toEqual([expect.objectContaining({ display_name: displayName })]);
  });
});

describe('csvPieces', () => {
  const HEADINGS =
    'resource_id,name,display_name,resource_type,resource_type_label,product,state,alert_state,alertable,alert_rules,created,sku,sku_quantity,sku_unit,gpu_model';

  it('prints a header and a line per resource, each terminated by CR LF', () => {
    expect(shown('csv', PLAIN, BARE)).toBe(
      [
        HEADINGS,
        '"r1","ws-1","训练平台-01","resource_type.compute.x","Type A","product.x","ALERTSTATE_FIRING","firing",true,12,"2024-05-01T12:00:00.500Z","2 GPU",2,"GPU","N4lS"',
        '"r2",,,,,,,"unknown",,,,,,,',
        '',
      ].join('\r\n'),
    );
  });

  const nameCell = (name: string) =>
    shown('csv', { ...BARE, name }).slice(HEADINGS.length + '\r\n"r2",'.length, -',,,,,,"unknown",,,,,,,\r\n'.length);

  it.each<[string, string]>([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    [' spaces ', '" spaces "'],
    ['a=1', '"a=1"'],
    ["'x", `"'x"`],
    // Control and format characters are escaped.
    ['two\r\nlines', '"two\\u{d}\\u{a}lines"'],
    ['\u001b[2J\u009b1m', '"\\u{1b}[2J\\u{9b}1m"'],
    ['invoice\u202etxt.exe\u2066', '"invoice\\u{202e}txt.exe\\u{2066}"'],
    ['\r=1,2', '"\\u{d}=1,2"'],
    // A spreadsheet may separate cells by semicolons.
    ['x;=1+1', `"x;'=1+1"`],
    ['x; "-1;y;@z', `"x;' ""-1;y;'@z"`],
    ['x;y=1', '"x;y=1"'],
    // A spreadsheet must not evaluate a formula.
    ...['=1+1', '+1', '-1', '@SUM(A1)', '＝1', ' =1', '\u00a0\u3000@x', '   －1'].map((name): [string, string] => [
      name,
      `"'${name}"`,
    ]),
    [' =1,2', `"' =1,2"`],
  ])('prints %j as %j', (name, cell) => {
    expect(nameCell(name)).toBe(cell);
  });

  it('prints a negative number as a number', () => {
    expect(shown('csv', { ...BARE, alertRules: -2 })).toContain(',-2,');
  });
});
