import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderConfig } from '../../src/config/resolve.ts';
import { expectProblems, loaded, problemsOf, upstreamWith } from './fixtures.ts';
import { LINK_MISTAKES, withLink } from './mistakes.ts';

describe('links', () => {
  it('are templates for stations, resources or both, and are shown in the configuration', () => {
    const text = withLink(
      'name: Grafana',
      'station: https://grafana.example.com/d/x?var-station={station}&q=%7Ba%7D#{zone}',
      'resource: "HTTP://console/{resource_id}"',
    );
    const links = [
      {
        name: 'Grafana',
        station: 'https://grafana.example.com/d/x?var-station={station}&q=%7Ba%7D#{zone}',
        resource: 'HTTP://console/{resource_id}',
      },
    ];
    expect(loaded(text).config.links).toEqual(links);
    expect(parse(renderConfig(loaded(text).config)).links).toEqual(links);
  });

  it('have variables of the environment beside placeholders', () => {
    const text = withLink('name: a', `station: $\{GRAFANA}/d/{station}/$\{station}`);
    expect(loaded(text, { GRAFANA: 'https://grafana.example.com', station: 'b' }).config.links[0]?.station).toBe(
      'https://grafana.example.com/d/{station}/b',
    );
    expect(problemsOf(text, { GRAFANA: 'javascript:alert(1)//', station: 'b' })).toEqual([
      '8:14: links[0].station: must begin with http:// or https://',
    ]);
  });

  it.each(LINK_MISTAKES)('reject the template %s', (template, problem) => {
    expectProblems(withLink('name: a', `station: "${template}"`), `8:14: links[0].station: ${problem}`);
  });

  it('list the placeholders of a resource', () => {
    expectProblems(
      withLink('name: a', 'resource: https://h/{id}'),
      /^8:15: links\[0\]\.resource: unknown placeholder \{id\}, expected one of \{station\}, .*\{resource_id\}, \{name\}, .*\{gpu_model\};/,
    );
  });

  it('need a name, and a template', () => {
    expectProblems(withLink('station: https://h'), '7:5: links[0].name: missing, expected a string');
    expectProblems(withLink('name: a'), '7:5: links[0]: expected station, resource or both, got neither');
    expectProblems(`${upstreamWith()}links: { name: a }\n`, '6:8: links: expected a list, got a mapping');
  });
});
