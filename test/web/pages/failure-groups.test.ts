import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE } from '../../../src/model/failure.ts';
import { failureGroups, failureSection, shortReason } from '../../../src/web/pages/failure-groups.ts';
import { NOW_MS, STATION } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';

const failing = (name: string, changes: Partial<StationStatus> = {}): StationStatus => ({
  ...STATION,
  name,
  up: false,
  failure: { reason: 'forbidden', message: 'answered 403 Forbidden' },
  ...changes,
});

const fleet = (count: number, changes: Partial<StationStatus> = {}) =>
  Array.from({ length: count }, (_, index) => failing(`s${index}`, changes));

const shown = (stations: readonly StationStatus[]) => {
  const { text, tags } = parseHtml(
    failureSection(failureGroups(stations), NOW_MS)
      .map((section) => section.text)
      .join(''),
  );
  return { text, tags, boxes: tags.filter(({ attributes }) => attributes['class'] === 'failure-note') };
};

describe('failureGroups', () => {
  it('groups by upstream and reason, the largest first', () => {
    const timeout = { failure: { reason: 'timeout', message: 'm' } } as const;
    const stations = [
      STATION,
      failing('a', timeout),
      ...fleet(3),
      failing('b', { upstream: 'other' }),
      failing('c', timeout),
    ];
    const groups = failureGroups(stations).map(({ upstream, failure, stations: some }) => [
      upstream,
      failure.reason,
      some.map(({ name }) => name),
    ]);
    expect(groups).toEqual([
      ['main', 'forbidden', ['s0', 's1', 's2']],
      ['main', 'timeout', ['a', 'c']],
      ['other', 'forbidden', ['b']],
    ]);
  });

  it('keeps the most frequent message with its count', () => {
    const messages = ['x', 'y', 'z', 'y', 'x', 'y'];
    const stations = messages.map((message, index) => failing(`${index}`, { failure: { reason: 'body', message } }));
    expect(failureGroups(stations)).toMatchObject([{ failure: { message: 'y' }, messageCount: 3, messages: 3 }]);
  });

  it('does not mix upstreams and reasons whose names run together', () => {
    const stations = [failing('a', { upstream: 'x","timeout' }), failing('b', { upstream: 'x' })];
    expect(failureGroups(stations)).toHaveLength(2);
  });
});

describe('shortReason', () => {
  it.each([
    ['status', 'host:443 answered 503 Service Unavailable: {"a": 1}', '503 Service Unavailable'],
    ['status', 'host:443 answered 599', 'error status'],
    ['forbidden', 'whatever', '403 Forbidden'],
    ['timeout', 'no reply from 10.0.200.1 In Time', 'timeout'],
  ] as const)('of %s with "%s" is "%s"', (reason, message, short) => {
    expect(shortReason({ reason, message })).toBe(short);
  });
});

describe('failureSection', () => {
  it('is empty when nothing fails', () => {
    expect(failureSection(failureGroups([STATION]), NOW_MS)).toEqual([]);
  });

  it('is one box for 300 stations of one account, with meaning and advice once', () => {
    const { text, tags, boxes } = shown(fleet(300));
    expect(boxes).toHaveLength(1);
    const { meaning, advice } = FAILURE_ADVICE.forbidden;
    expect(text).toContain(`300 stations of upstream main: ${meaning} Last success: 55 s ago. Older data is served.`);
    expect(text.split(advice)).toHaveLength(2);
    expect(text).toContain('forbidden: answered 403 Forbidden\n');
    const links = tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes['href'] ?? ''] : []));
    expect(links).toEqual(['?state=failing&upstream=main&filter=403+Forbidden#stations']);
  });

  it('has one box for each status that the service returns', () => {
    const withStatus = (message: string) => fleet(60, { failure: { reason: 'status', message } });
    const { boxes } = shown([
      ...withStatus('answered 502 Bad Gateway'),
      ...withStatus('answered 503 Service Unavailable'),
    ]);
    expect(boxes).toHaveLength(2);
  });

  it('shows how many stations have the message, and how many have no data', () => {
    const odd = failing('odd', {
      failure: { reason: 'forbidden', message: 'other' },
      snapshot: undefined,
      lastSuccessMs: undefined,
    });
    const { text } = shown([...fleet(2), odd]);
    expect(text).toContain('answered 403 Forbidden (2 of 3 stations; 1 other message)');
    expect(text).toContain('1 of them has no data.');
  });

  it('names the only station of a group, without a list', () => {
    const { text, tags } = shown([failing('edge', { snapshot: undefined, lastSuccessMs: undefined })]);
    expect(text).toContain(
      `edge of upstream main: ${FAILURE_ADVICE.forbidden.meaning} No refresh has succeeded yet. No data is served.`,
    );
    expect(tags.find(({ name }) => name === 'a')?.attributes['href']).toBe('./stations/edge');
  });

  it('shows at most 20 boxes, and how much is left', () => {
    const { text, boxes } = shown(fleet(50).map((station, index) => ({ ...station, upstream: `u${index % 25}` })));
    expect(boxes).toHaveLength(20);
    expect(text).toContain('5 more causes, with 10 stations: see the table.');
  });

  it('escapes names and messages', () => {
    const hostile = '"><script>\r\0';
    const stations = [0, 1].map((index) =>
      failing(`${hostile}${index}`, { upstream: hostile, failure: { reason: 'body', message: hostile } }),
    );
    const { tags, text } = shown(stations);
    expect(tags.map(({ name }) => name)).not.toContain('script');
    expect(text).toContain('2 stations of upstream "><script>');
  });
});
