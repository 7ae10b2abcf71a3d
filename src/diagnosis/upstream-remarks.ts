import { daysLeft, isoDay } from './calendar.ts';
import { clockWords, NOTABLE_CLOCK_DIFFERENCE_MS } from './clock-difference.ts';
import { type DiagnosedUpstream, troublesOf } from './diagnosis.ts';
import { type Remark, warning } from './remark.ts';

/** How long a certificate should last at least, so that there is time to renew it. */
const NOTICE_DAYS = 14;

/** What will become a trouble, or is one that nobody notices. */
export function upstreamRemarks({ options, connection, stations, clockMs = 0 }: DiagnosedUpstream, nowMs: number): readonly Remark[] {
  const { baseUrl, tls, auth } = options;
  const remarks: Remark[] = [];
  const session = connection.error === undefined ? connection.session : undefined;
  if (session !== undefined && tls?.insecureSkipVerify === true) {
    remarks.push(
      warning(
        `The certificate of ${baseUrl.host} is not verified, because insecure_skip_verify is set: whoever stands in between can read the credentials.`,
        'Name the authority that issued it as tls_config.ca_file instead.',
      ),
    );
  }
  if (session !== undefined && daysLeft(session.validToMs, nowMs) < NOTICE_DAYS) {
    remarks.push(
      warning(
        `The certificate of ${baseUrl.host} ends on ${isoDay(session.validToMs)}.`,
        'See to it that those who run the service renew it in time: with an expired one every refresh fails.',
      ),
    );
  }
  // Where signatures are rejected, the failure tells it.
  const isRefused = stations.flatMap(troublesOf).some(({ reason }) => reason === 'auth');
  if (auth?.scheme === 'hmac' && !isRefused && Math.abs(clockMs) > NOTABLE_CLOCK_DIFFERENCE_MS) {
    remarks.push(
      warning(
        `The clock of this machine is ${clockWords(clockMs)} that of ${baseUrl.host}.`,
        'Set it, best by NTP: services reject signatures whose time is some minutes off.',
      ),
    );
  }
  return remarks;
}
