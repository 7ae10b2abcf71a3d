import { describe, expect, it } from 'vitest';
import { type Answers, Status, serveApi, status } from '../alerting/fake-apis.ts';
import { configFlag, resultOf } from '../e2e/running-program.ts';
import { configOf } from '../e2e/test-bed.ts';

interface Posted {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

const REAL = { alertname: 'TelemetryStationDown', severity: 'warning', station: 'a' };

/** An Alertmanager with these alerts, which keeps what is posted. */
async function drill(known: readonly object[], flags: readonly string[], answers: Answers = {}) {
  const posted: Posted[] = [];
  const alerts = (method: string, body: string) => {
    if (method === 'POST') posted.push(...JSON.parse(body));
    return [
      ...known,
      ...posted.map(({ labels }) => ({
        fingerprint: labels['alertname'],
        labels,
        receivers: [{ name: 'pager' }],
        status: {
          state: 'active',
          inhibitedBy: labels['alertname'] === 'TelemetryStationDataStale' ? ['TelemetryStationUpstreamDown'] : [],
          silencedBy: labels['alertname'] === 'TelemetryStationDown' ? ['1a2b'] : [],
        },
      })),
    ];
  };
  const url = await serveApi({ status: status(), alerts, ...answers });
  const config = configFlag(configOf('http://127.0.0.1:9', ['a']));
  const result = await resultOf(['drill', config, `--alertmanager.url=${url}`, ...flags]);
  return { ...result, posted };
}

const known = (labels: object) => ({
  fingerprint: 'f',
  labels,
  receivers: [],
  status: { state: 'active', inhibitedBy: [], silencedBy: [] },
});

describe('drill', () => {
  it('prints the alerts and their receivers, and sends nothing', async () => {
    const { code, stdout, posted } = await drill([], []);
    expect(code).toBe(0);
    expect(posted).toEqual([]);
    expect(stdout).toMatch(
      /\nTelemetryStationDown +warning +channel +station="a",upstream="main",job=.*,drill="true"\n/,
    );
    expect(stdout).toMatch(/\n18 alerts would be sent to http:\S+; --send sends them\.\n$/);
  });

  it('sends alerts that say what they are and end after five minutes, and prints what became of them', async () => {
    const { code, stdout, posted } = await drill(
      [known({ ...REAL, drill: 'true' }), known({ alertname: 'Other' })],
      ['--send'],
    );
    expect(code).toBe(0);
    expect(posted).toHaveLength(18);
    for (const { labels, annotations, startsAt, endsAt } of posted) {
      expect(labels['drill']).toBe('true');
      expect(annotations['summary']).toMatch(/^\[DRILL\] \w/);
      expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(300_000);
    }
    expect(stdout).toMatch(/\nTelemetryStationDataStale +critical +pager +TelemetryStationUpstreamDown +/);
    expect(stdout).toMatch(/\nTelemetryStationDown +warning +pager +silence 1a2b +/);
    expect(stdout).toContain('\n18 alerts arrived at Alertmanager, 0 did not. They end at ');
  });

  it('sends one alert', async () => {
    const { posted } = await drill([], ['TelemetryStationDown', '--send']);
    expect(posted.map(({ labels }) => labels['alertname'])).toEqual(['TelemetryStationDown']);
    const { code, stderr } = await drill([], ['TelemetryStationDwn']);
    expect(code).toBe(1);
    expect(stderr).toBe('unknown alert "TelemetryStationDwn"; did you mean "TelemetryStationDown"?\n');
  });

  it('refuses while an alert of the exporter is firing, unless it is forced', async () => {
    const refused = await drill([known(REAL)], ['--send']);
    expect(refused.code).toBe(1);
    expect(refused.posted).toEqual([]);
    expect(refused.stderr).toContain('not sent, because alerts are firing: TelemetryStationDown; --force sends');
    const { code, posted } = await drill([known(REAL)], ['TelemetryStationDown', '--send', '--force']);
    expect(code).toBe(0);
    expect(posted).toHaveLength(1);
  });

  it('fails if an alert does not arrive', async () => {
    const { code, stdout } = await drill([], ['TelemetryStationDown', '--send'], { alerts: [] });
    expect(code).toBe(1);
    expect(stdout).toMatch(/TelemetryStationDown +warning +did not arrive/);
    expect(stdout).toContain('0 alerts arrived at Alertmanager, 1 did not.');
  });

  it('reports what Alertmanager does not answer', async () => {
    const forbidden = new Status(403, 'read only');
    const unread = await drill([], [], { status: forbidden });
    expect(unread.stderr).toMatch(/^Alertmanager cannot be read: .*403 Forbidden: read only\.$/m);
    const unlisted = await drill([], ['--send'], { alerts: forbidden });
    expect(unlisted.stderr).toMatch(/^127\.0\.0\.1:\d+ answered 403 Forbidden: read only$/m);
    const readOnly = (method: string) => (method === 'POST' ? forbidden : []);
    const unsent = await drill([], ['--send'], { alerts: readOnly });
    expect([unsent.code, unsent.stderr]).toEqual([1, expect.stringContaining('403 Forbidden')]);
    let reads = 0;
    const failing = (method: string) => {
      reads += method === 'GET' ? 1 : 0;
      return reads > 1 ? forbidden : [];
    };
    expect((await drill([], ['--send'], { alerts: failing })).code).toBe(1);
  });

  it('requires the URL, and a valid configuration', async () => {
    expect((await resultOf(['drill', '--demo'])).stderr).toContain('drill: requires --alertmanager.url\n');
    const { code } = await resultOf(['drill', configFlag({}), '--alertmanager.url=http://127.0.0.1:9']);
    expect(code).toBe(1);
  });
});
