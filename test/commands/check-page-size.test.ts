import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { fixedSize, reportedTotal, type TestFault } from '../simulator/simulated-service.ts';
import { checkLive } from './check-live.ts';

const LARGE_PAGE: TestFault['when'] = ({ size }) => size >= 1000;

/** The report on stations of 25 resources and pages of 10, and the large pages that were requested. */
async function checked(faults: readonly TestFault[], upstream: object = {}, stations = ['small', 'large']) {
  const service = await startTestService({
    source: ({ telemetry_station }) => entriesOf(telemetry_station === 'small' ? 3 : 25),
    faults: { '*': faults },
  });
  const { stdout, code } = await checkLive(configOf(service.url, stations, { upstream, cache: { ttl: '60s' } }));
  return {
    code,
    line: /^page size: upstream main: (.*)$/m.exec(stdout)?.[1],
    warnings: /warnings: (\d+)/.exec(stdout)?.[1],
    probed: service.requests.filter(({ size = 0 }) => size >= 1000).map(({ station }) => station),
  };
}

/** The upstream has no credentials. */
const CONFIG_WARNINGS = '1';
const ONE_PAGE = { code: 0, warnings: CONFIG_WARNINGS, probed: ['large'] };
const ACCEPTED = 'The service accepts larger pages: page_size:';
const FAILED = 'The service does not return a page of 1,000 resources:';

describe('check --live', () => {
  it.each<[what: string, line: string, ...faults: TestFault[]]>([
    ['it has all resources', `${ACCEPTED} 1000 would save 120 of 240 requests per hour.`],
    [
      'it has all resources and no total',
      `${ACCEPTED} 1000 would save 120 of 480 requests per hour.`,
      reportedTotal(undefined),
    ],
    [
      'it is larger than page_size, but limited',
      `${ACCEPTED} 20 would save 60 of 240 requests per hour.`,
      { ...fixedSize(20), when: LARGE_PAGE },
    ],
    [
      'it is as large as page_size',
      'The service returns 10 resources for a page of 1,000 resources: a larger page_size would save nothing.',
      { ...fixedSize(10), when: LARGE_PAGE },
    ],
    ['it is too large', `${FAILED} it answers with status 413.`, { ...replyWith(413), when: LARGE_PAGE }],
    [
      'it is throttled',
      'It is unknown whether a larger page_size would save requests: the service throttles.',
      { ...replyWith(429), when: LARGE_PAGE },
    ],
  ])('requests one page of 1,000 of the largest station, and is content when %s', async (_, line, ...faults) => {
    expect(await checked(faults)).toEqual({ ...ONE_PAGE, line });
  });

  it('does not fail when the large page exceeds max_page_bytes', async () => {
    const { code, line } = await checked([], { max_page_bytes: '5KB' });
    expect({ code, line }).toEqual({ code: 0, line: `${FAILED} the request failed (body).` });
  });

  it.each<[why: string, upstream: object, stations: string[], ...faults: TestFault[]]>([
    ['all resources fit in a page', {}, ['small']],
    ['page_size is that large', { page_size: 1000 }, ['large']],
    ['the service ignores the page size', {}, ['large'], fixedSize(100)],
  ])('requests no large page when %s', async (_, upstream, stations, ...faults) => {
    const { line, probed } = await checked(faults, upstream, stations);
    expect(line).toBeUndefined();
    expect(probed.length).toBe('page_size' in upstream ? 1 : 0);
  });
});
