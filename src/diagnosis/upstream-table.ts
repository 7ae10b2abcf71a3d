import { type Column, textTable } from '../cli/table.ts';
import { lifeText } from './calendar.ts';
import { clockWords } from './clock-difference.ts';
import type { DiagnosedUpstream } from './diagnosis.ts';

const COLUMNS: readonly Column[] = ['UPSTREAM', 'SERVICE', 'DNS', 'CONNECTION', 'TLS', 'CLOCK'].map((heading) => ({ heading }));

/** What belongs to the connections. */
export function upstreamTable(upstreams: readonly DiagnosedUpstream[], nowMs: number): string {
  const rows = upstreams.map((upstream) => [
    upstream.options.name,
    upstream.options.baseUrl.host,
    dnsCell(upstream),
    connectionCell(upstream),
    tlsCell(upstream, nowMs),
    clockCell(upstream),
  ]);
  return textTable(COLUMNS, rows);
}

function dnsCell({ options: { proxyUrl }, connection: { name } }: DiagnosedUpstream): string {
  const found = name.addresses.length === 0 ? 'no name to resolve' : `${name.addresses.join(', ')} in ${Math.round(name.ms)} ms`;
  const told = name.error === undefined ? found : 'unknown name';
  return proxyUrl === undefined ? told : `behind a proxy (${told})`;
}

function connectionCell({ connection: { error, ms }, trouble }: DiagnosedUpstream): string {
  if (error === undefined) return `in ${Math.round(ms)} ms`;
  return trouble === undefined || trouble.place === 'tls' ? 'made' : trouble.short;
}

function tlsCell({ options: { baseUrl, tls }, connection: { error, session }, trouble }: DiagnosedUpstream, nowMs: number): string {
  const wrong = trouble?.place === 'tls' ? [trouble.short] : [];
  if (baseUrl.protocol === 'http:') return wrong[0] ?? 'none, plain HTTP';
  const seen = session ? [session.protocol, lifeText(session.validToMs, nowMs), `issued by ${session.issuer}`] : [];
  const unverified = error === undefined && tls?.insecureSkipVerify === true ? ['not verified'] : [];
  return [...wrong, ...seen, ...unverified].join(', ') || '-';
}

function clockCell({ clockMs }: DiagnosedUpstream): string {
  if (clockMs === undefined) return '-';
  return clockMs === 0 ? 'in step' : `${clockWords(clockMs)} the service's`;
}
