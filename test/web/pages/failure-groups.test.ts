import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE } from '../../../src/model/failure.ts';
import { failureGroups, failureSection, shortReason } from '../../../src/web/pages/fleet-summary.ts';
import { html } from '../../../src/web/pages/html.ts';
import { NOW_MS, STATION } from '../fake-station.ts';
import { shown } from './opened-page.ts';

const failing = (name: string, changes: Partial<StationStatus> = {}): StationStatus => ({
  ...{ ...STATION, name, up: false, failure: { reason: 'forbidden', message: 'answered 403 Forbidden' } },
  ...changes,
});

const fleet = (count: number) => Array.from({ length: count }, (_, index) => failing(`s${index}`));

const NEVER = { snapshot: undefined, lastSuccessMs: undefined };

function section(stations: readonly StationStatus[]) {
  const page = shown(html`${failureSection(failureGroups(stations), NOW_MS)}`.text);
  return { ...page, boxes: page.tags.filter(({ attributes }) => attributes['class'] === 'failure-note') };
}

describe('failureGroups', () => {
  it('groups by upstream, reason and status of the service, the largest first', () => {
    const timeout = { failure: { reason: 'timeout', message: 'm' } } as const;
    const answered = (status: number) => ({ failure: { reason: 'status' as const, message: 'm', status } });
    const stations = [
      STATION,
      failing('a', timeout),
      ...fleet(3),
      failing('b', { upstream: 'other' }),
      failing('c', timeout),
      failing('d', answered(502)),
      failing('e', answered(503)),
    ];
    const groups = failureGroups(stations).map(({ upstream, short, stations: some }) =>
      [upstream, short, ...some.map(({ name }) => name)].join(' '),
    );
    expect(groups).toEqual([
      'main 403 Forbidden s0 s1 s2',
      'main timeout a c',
      'other 403 Forbidden b',
      'main 502 Bad Gateway d',
      'main 503 Service Unavailable e',
    ]);
  });
});

describe('shortReason', () => {
  it.each([
    ['status', 503, 'host:443 answered 503 Service Unavailable: {"a": 1}', '503 Service Unavailable'],
    ['status', 520, 'host:443 answered 520: origin returned 404 Not Found', '520'],
    ['status', undefined, 'host:443 answered 404 Not Found', 'error status'],
    ['forbidden', 403, 'whatever', '403 Forbidden'],
    ['timeout', undefined, 'no reply from 10.0.200.1 In Time', 'timeout'],
  ] as const)('of %s with the status %s and "%s" is "%s"', (reason, status, message, short) => {
    expect(shortReason({ reason, status, message })).toBe(short);
  });
});

describe('failureSection', () => {
  it('is empty when nothing fails', () => {
    expect(failureSection(failureGroups([STATION]), NOW_MS).text).toBe('');
  });

  it('is one box for 300 stations of one account, with meaning and advice once', () => {
    const { text, hrefs, boxes } = section(fleet(300));
    expect(boxes).toHaveLength(1);
    const { meaning, advice } = FAILURE_ADVICE.forbidden;
    expect(text).toBe(
      `Failures 300 stations of upstream main: ${meaning} Last success: 55 s ago. Older data is served. forbidden: answered 403 Forbidden What to do: ${advice}`,
    );
    expect(hrefs).toEqual(['?state=failing&upstream=main&filter=403+Forbidden#stations']);
  });

  it('shows the most frequent message', () => {
    const messages = ['x', 'y', 'z', 'y', 'x', 'y'];
    const stations = messages.map((message, index) => failing(`${index}`, { failure: { reason: 'body', message } }));
    expect(section(stations).text).toContain('body: y (3 of 6 stations; 2 other messages)');
  });

  it('shows how many stations have the message, and how many have no data', () => {
    const odd = failing('odd', {
      ...{ failure: { reason: 'forbidden', message: 'other' }, snapshot: undefined, lastSuccessMs: NOW_MS - 1000 },
    });
    const { text } = section([...fleet(2), odd]);
    expect(text).toContain('answered 403 Forbidden (2 of 3 stations; 1 other message)');
    expect(text).toContain('Last success: 1 s ago. 1 of them has no data.');
  });

  it('names the only station of a group, without a list', () => {
    const { text, hrefs } = section([failing('edge', NEVER)]);
    expect(text).toContain(
      `edge of upstream main: ${FAILURE_ADVICE.forbidden.meaning} No refresh has succeeded yet. No data is served.`,
    );
    expect(hrefs).toEqual(['./stations/edge']);
  });

  it('shows at most 20 boxes, and how much is left', () => {
    const { text, boxes } = section(fleet(50).map((station, index) => ({ ...station, upstream: `u${index % 25}` })));
    expect(boxes).toHaveLength(20);
    expect(text).toContain('5 more causes, with 10 stations: see the table.');
  });

  it('escapes names and messages', () => {
    const hostile = '"><script>\r\0';
    const { tags, text } = section([
      failing(hostile, { upstream: hostile, failure: { reason: 'body', message: hostile } }),
    ]);
    expect(tags.map(({ name }) => name)).not.toContain('script');
    expect(text).toContain('"><script> \uFFFD of upstream "><script> \uFFFD: ');
    expect(text).toContain('body: "><script> \uFFFD');
  });
});
