import { describe, expect, it } from 'vitest';
import { FAMILY_DESCRIPTIONS } from '../../../src/metrics/catalogue.ts';
import { familyRow } from '../../../src/web/pages/reference-page.ts';
import { parseHtml } from '../html-parser.ts';
import { startApp } from '../running-app.ts';

describe('referencePage', () => {
  it('shows name, type, labels and help of every family, each with its own anchor', async () => {
    const { request } = await startApp();
    const { status, headers, body } = await request('/reference');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).not.toContain('script-src');
    const { tags, text } = parseHtml(body);
    expect(tags.flatMap(({ name, attributes }) => (name === 'tr' ? (attributes['id'] ?? []) : []))).toEqual(
      FAMILY_DESCRIPTIONS.map(({ name }) => name),
    );
    for (const { name, type, labels, help } of FAMILY_DESCRIPTIONS)
      expect(text).toContain(`${name}\n${type}\n${labels.join(', ')}\n${help}`);
  });
});

describe('familyRow', () => {
  const family = {
    name: 'a_b',
    type: 'gauge',
    labels: ['x', 'y'],
    help: 'H <1>.',
    exampleTitle: 'how <many>',
    example: 'sum(a_b) > 1',
  } as const;

  it('shows the meaning and the example query', () => {
    expect(parseHtml(familyRow(family).text).text).toBe('\na_b\ngauge\nx, y\nH <1>. how <many>: sum(a_b) > 1\n\n');
  });

  it('allows line breaks after underscores of the name', () => {
    expect(familyRow(family).text).toContain('<a class="code" href="#a_b">a_<wbr>b</a>');
  });
});
