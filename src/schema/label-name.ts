import * as z from 'zod';

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Prometheus sets some of them on every series and alert, and the alert rules remove or set the others: what is configured would not arrive. */
export const ALERTING_LABELS: readonly string[] = ['job', 'instance', 'pod', 'alertname', 'severity'];

/** `problemOf`: what is wrong with a reserved name. */
export function labelName(reserved: Pick<ReadonlySet<string>, 'has'>, problemOf: (name: string) => string) {
  return z
    .string()
    .regex(LABEL_NAME, {
      error: 'a label name of letters, digits and underscores that does not start with a digit',
      abort: true,
    })
    .refine((name) => !name.startsWith('__'), {
      error: 'label names that start with __ are reserved, expected another one',
      abort: true,
    })
    .refine((name) => !reserved.has(name), {
      error: ({ input }) => `${problemOf(String(input))}, expected another one`,
    });
}
