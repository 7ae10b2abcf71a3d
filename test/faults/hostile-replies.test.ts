import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Fault, replyWith } from '../../src/simulator/faults.ts';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { startService } from '../upstream/support/service.ts';

const MIB = 1024 * 1024;
const SECRET = 'attackers-want-this';

/** An exporter whose station `bad` meets the fault while its station `good` meets none. */
async function exporterFacing(fault: Fault, upstream: object = {}) {
  const service = await startTestService({ source: () => entriesOf(3), faults: { bad: [fault] } });
  const exporter = await startReadyExporter(configOf(service.url, ['bad', 'good'], { upstream }));
  return { service, exporter };
}

describe('Exporter, over a hostile service', () => {
  let bomb: Buffer;

  beforeAll(() => {
    bomb = gzipSync(Buffer.alloc(192 * MIB), { level: 1 });
  });

  it.each([200, 500])('does not decompress a gzip bomb with status %i', async (code) => {
    const service = await startService((_request, response) =>
      response.writeHead(code, { 'Content-Encoding': 'gzip' }).end(bomb),
    );
    const exporter = await startReadyExporter(configOf(service.url.href, ['ts']));
    const before = process.memoryUsage.rss();
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState(code === 200 ? 'body' : 'status'));
    expect(process.memoryUsage.rss() - before).toBeLessThan(128 * MIB);
  });

  it.each([301, 302, 303, 307, 308])(
    'does not follow a %i to another host, which sees neither credential nor request',
    async (code) => {
      const attacker = await startService((_request, response) => response.end('{"resources":[]}'));
      const headers = {
        location: `${attacker.url}steal`,
        refresh: `0; url=${attacker.url}`,
        link: `<${attacker.url}>; rel=preload`,
      };
      const { service, exporter } = await exporterFacing(replyWith(code, headers), {
        authorization: { credentials: SECRET },
        http_headers: { 'X-Key': { secrets: [SECRET] } },
        max_retries: 2,
      });
      const families = await exporter.scrape();
      expect(stateOf(families, 'bad')).toEqual(expectedState('status'));
      expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
      expect(service.requests[0]?.headers['authorization']).toBe(`Bearer ${SECRET}`);
      expect(attacker.requests).toEqual([]);
    },
  );

  it('fails on or skips JSON nested 100,000 levels deep', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const nested = [
      `${deep}`,
      `{"resources":${deep}}`,
      `{"resources":[{"resource_id":"a","state":${deep}}],"page":{"total":1}}`,
    ];
    for (const text of nested) {
      const { exporter } = await exporterFacing(replyWith(200, {}, text));
      const families = await exporter.scrape();
      expect([expectedState('body'), expectedState(undefined)]).toContainEqual(stateOf(families, 'bad'));
      expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
    }
  });

  it.each([
    { shape: 'a record of 240,000 keys', text: `{"resources":[{${'"key":1,'.repeat(240_000)}"key":1}]}` },
    { shape: 'a text of 7 million backslash pairs', text: `{"resources":["${'\\\\'.repeat(7 * MIB)}"]}` },
    { shape: 'a record of 8 million numbers', text: `{"resources":[[${'1,'.repeat(8 * MIB - 100)}1]]}` },
    {
      shape: 'a member of 8 million numbers beside the records',
      text: `{"a":[${'1,'.repeat(7 * MIB)}1],"resources":[]}`,
    },
  ])('fails with the reason body on $shape, and serves the other station', async ({ text }) => {
    const { exporter } = await exporterFacing(replyWith(200, {}, text));
    const families = await exporter.scrape();
    expect(stateOf(families, 'bad')).toEqual(expectedState('body'));
    expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
  });

  it('fails on a reply with 20,000 header lines, and serves the other station', async () => {
    const lines = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}`, '']));
    const { exporter } = await exporterFacing(replyWith(200, lines, '{"resources":[]}'));
    const families = await exporter.scrape();
    expect(stateOf(families, 'bad')).toEqual(expectedState('network'));
    expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
  });
});
