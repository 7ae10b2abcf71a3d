import { describe, expect, it } from 'vitest';
import { FAILURE_ADVICE, failureAdvice } from '../../src/model/failure.ts';

const adviceOf = (message: string) => failureAdvice({ reason: 'status', message }).advice;

describe('failureAdvice', () => {
  it('does not speak of 4xx and base_url when the service returned a 503', () => {
    const advice = adviceOf('503 Service Unavailable: try later');
    expect(advice).toContain('failure of the service');
    expect(advice).not.toMatch(/4xx|base_url/);
  });

  it.each(['400 Bad Request', '302 Found'])('does not speak of 5xx when the service returned %s', (message) => {
    expect(adviceOf(message)).toContain('base_url');
    expect(adviceOf(message)).not.toContain('5xx');
  });

  it('is general for other reasons, and for a message without a status', () => {
    expect(failureAdvice({ reason: 'auth', message: '401 Unauthorized' })).toEqual(FAILURE_ADVICE.auth);
    expect(failureAdvice({ reason: 'status', message: 'no status' })).toEqual(FAILURE_ADVICE.status);
  });
});
