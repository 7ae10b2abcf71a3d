import express, { type Request } from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expositionFormat, wantsGzip } from '../../src/web/scrape.ts';

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
const PROMETHEUS_3_PROTOBUF = `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,${PROMETHEUS_3}`;
const PROMETHEUS_TEXT_ONLY = 'text/plain;version=0.0.4;q=0.6,*/*;q=0.5';
const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

/** Any header that is made of the pieces such headers are made of, or of anything at all. */
const anyHeader = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        ...['application/openmetrics-text', 'text/plain', '*/*', 'gzip', 'identity', '*', ',', ';', '=', '"', '\\', ' ', 'q', 'version'],
        ...['1.0.0', '0.0.4', 'escaping', 'charset', 'utf-8', '0', '0.5', '-1', 'Infinity', 'NaN', '__proto__', 'constructor', 'toString'],
      ),
      { maxLength: 40 },
    )
    .map((pieces) => pieces.join('')),
);

function requestWith(headers: Record<string, string>): Request {
  return Object.assign(Object.create(express.request) as Request, { headers });
}

describe('expositionFormat', () => {
  it.each([
    ['Prometheus 2', PROMETHEUS_2, 'openmetrics'],
    ['Prometheus 3', PROMETHEUS_3, 'openmetrics'],
    ['Prometheus 3 that would rather have protobuf', PROMETHEUS_3_PROTOBUF, 'openmetrics'],
    ['Prometheus 3 with underscores', 'application/openmetrics-text;version=1.0.0;escaping=underscores;q=0.6,*/*;q=0.2', 'openmetrics'],
    ['Prometheus told to take text', PROMETHEUS_TEXT_ONLY, 'text'],
    ['a client of our exact type', 'application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics'],
    ['a client of any OpenMetrics', 'application/openmetrics-text', 'openmetrics'],
    ['a client of another OpenMetrics', 'application/openmetrics-text;version=0.0.1', 'text'],
    ['curl', '*/*', 'text'],
    ['a browser', FIREFOX, 'text'],
    ['a client that likes text better', 'application/openmetrics-text;q=0.5,text/plain;q=0.6', 'text'],
    ['a client that refuses OpenMetrics', 'application/openmetrics-text;q=0,*/*', 'text'],
    ['a client that refuses text', 'text/plain;q=0,*/*;q=0.1', 'openmetrics'],
    ['a client that accepts neither', 'image/png', 'text'],
    ['a client that accepts nothing', '*/*;q=0', 'text'],
  ])('suits %s', (_client, accept, format) => {
    expect(expositionFormat(requestWith({ accept }))).toBe(format);
  });

  it('is text without a header', () => {
    expect(expositionFormat(requestWith({}))).toBe('text');
  });

  it('has an answer to any header', () => {
    fc.assert(
      fc.property(anyHeader, (accept) => {
        expect(['text', 'openmetrics']).toContain(expositionFormat(requestWith({ accept })));
      }),
    );
  });
});

describe('wantsGzip', () => {
  it.each([
    ['gzip', true],
    ['gzip, deflate, br', true],
    ['GZIP', true],
    ['*', true],
    ['gzip;q=0.5', true],
    ['gzip;q=0.5, identity;q=0.4', true],
    ['gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*;q=0', false],
    ['identity', false],
    ['deflate, br', false],
    ['gzip;q=0.5, identity', false],
    ['', false],
  ])('reads %j as %s', (header, wanted) => {
    expect(wantsGzip(requestWith({ 'accept-encoding': header }))).toBe(wanted);
  });

  it('is false without a header', () => {
    expect(wantsGzip(requestWith({}))).toBe(false);
  });

  it('has an answer to any header', () => {
    fc.assert(
      fc.property(anyHeader, (header) => {
        expect(typeof wantsGzip(requestWith({ 'accept-encoding': header }))).toBe('boolean');
      }),
    );
  });
});
