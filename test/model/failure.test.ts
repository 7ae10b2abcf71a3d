import { describe, expect, it } from 'vitest';
import { failureAdvice, failureOf } from '../../src/model/failure.ts';

const adviceOf = (status: number) => failureAdvice({ reason: 'status', status }).advice;

describe('failureAdvice', () => {
  it('does not speak of 4xx and base_url when the service returned a 503', () => {
    const advice = adviceOf(503);
    expect(advice).toContain('failure of the service');
    expect(advice).not.toMatch(/4xx|base_url/);
  });

  it.each([400, 302])('does not speak of 5xx when the service returned %i', (status) => {
    expect(adviceOf(status)).toContain('base_url');
    expect(adviceOf(status)).not.toContain('5xx');
  });

  it('does not speak of a 401 when the credentials could not be read, so that there was no reply', () => {
    const { short, meaning, advice } = failureAdvice({ reason: 'auth' });
    expect([short, meaning]).toEqual([
      'no credentials',
      'The credentials could not be read or obtained, so no request was sent.',
    ]);
    expect(advice).not.toMatch(/401|hmac/);
  });
});

describe('failureOf', () => {
  it('takes whatever else is thrown for an internal failure', () => {
    const error = 'a text thrown';
    expect(failureOf(error)).toEqual({ reason: 'internal', message: error, error });
  });
});
