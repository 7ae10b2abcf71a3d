import { describe, expect, it } from 'vitest';
import { replyWith } from '../../lab/simulator/faults.ts';
import { checkLive } from '../commands/check-live.ts';
import { eventually } from '../web/eventually.ts';
import { parseHtml } from '../web/html-parser.ts';
import { configOf, entriesOf, startTestExporter, startTestService } from './test-bed.ts';

const SERVICE = { source: () => entriesOf(1) };
const HMAC = { hmac: { access_key_id: 'AK', secret_access_key: 'hmac-secret', signed_headers: ['x-date'] } };

describe('the advice on a failure', () => {
  it.each([
    {
      failure: 'a port without TLS',
      config: async () => configOf((await startTestService(SERVICE)).url.replace('http:', 'https:'), ['a']),
      words: ['does not use TLS on this port', 'Check the scheme and port of base_url'],
    },
    {
      failure: 'a clock that differs',
      config: async () => {
        const { url } = await startTestService({ ...SERVICE, auth: HMAC, now: () => Date.now() - 3_600_000 });
        return configOf(url, ['a'], { upstream: HMAC });
      },
      words: [/The local clock is 3[56]\d\d s ahead of the service's/, 'Synchronize the clock of this host (NTP).'],
    },
    {
      failure: 'missing credentials',
      config: async () =>
        configOf((await startTestService({ ...SERVICE, faults: { '*': [replyWith(401)] } })).url, ['a']),
      words: ['no credentials are configured', 'Configure one of authorization, basic_auth, hmac and oauth2'],
    },
  ])('is the same on the pages and of check --live: $failure', async ({ config, words }) => {
    const configured = await config();
    const { exporter, get } = await startTestExporter({ ...configured, cache: { ttl: '1h', error_ttl: '1h' } });
    await eventually(() => expect(exporter.stations()[0]?.up).toBe(false));
    const { stdout } = await checkLive(configured);
    for (const text of [parseHtml(await (await get('/')).text()).text, stdout]) {
      for (const word of words) expect(text).toMatch(typeof word === 'string' ? literal(word) : word);
      expect(text).not.toContain('-secret');
    }
  });
});

/** Whatever its line breaks are. */
function literal(text: string): RegExp {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(escaped.replaceAll(' ', '\\s+'));
}
