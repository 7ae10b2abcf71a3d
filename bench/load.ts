import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { median } from './figure.ts';

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** Scrapes once and counts the bytes. */
export async function scrape(
  port: number,
  { gzip = true, timeoutSeconds = 600, path = '/metrics' } = {},
): Promise<{ ms: number; bytes: number }> {
  const headers = {
    'X-Prometheus-Scrape-Timeout-Seconds': String(timeoutSeconds),
    ...(gzip && { 'Accept-Encoding': 'gzip' }),
  };
  const start = performance.now();
  const sent = request({ host: '127.0.0.1', port, path, agent, headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`expected status 200, got ${response.statusCode}`);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(response, 'end');
  return { ms: performance.now() - start, bytes };
}

/** The median of several runs after a warm-up. */
export async function medianOf(runs: number, warmUps: number, run: () => Promise<number>): Promise<number> {
  for (let round = 0; round < warmUps; round += 1) await run();
  const values: number[] = [];
  for (let round = 0; round < runs; round += 1) values.push(await run());
  return median(values);
}
