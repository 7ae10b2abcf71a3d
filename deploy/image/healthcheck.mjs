// Exits with 0 if the exporter in the same container is healthy. HEALTHCHECK_URL overrides port and scheme; with a URL such as
// tcp://127.0.0.1:9842 it only connects, for an exporter that requires client certificates.
import { get } from 'node:http';
import { get as getSecure } from 'node:https';
import { connect } from 'node:net';

const url = new URL(process.env.HEALTHCHECK_URL ?? 'http://127.0.0.1:9842/-/healthy');
const fail = (reason) => {
  process.stderr.write(`${url}: ${reason}\n`);
  process.exit(1);
};
const answered = ({ statusCode }) =>
  statusCode === 200 ? process.exit(0) : fail(`expected status 200, got ${statusCode}`);

setTimeout(() => fail('no reply within 4 s'), 4000);
const request =
  url.protocol === 'tcp:'
    ? connect(Number(url.port), url.hostname, () => process.exit(0))
    : // The certificate is for the name that clients use, not for this address.
      url.protocol === 'https:'
      ? getSecure(url, { rejectUnauthorized: false }, answered)
      : get(url, answered);
request.on('error', ({ message }) => fail(message));
