import type * as z from 'zod';

export type Mapping = Readonly<Record<string, unknown>>;

/** A mistake that takes more than one key to see. */
export interface CrossProblem {
  /** From the mapping that was checked. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The key itself is the mistake, not its value. */
  readonly atKey?: boolean;
}

/** The keys of a checked mapping, and nothing about their values: these may be wrong themselves. */
export type Unchecked<Output> = { readonly [Key in keyof Output]?: unknown };

/** Runs even when other parts of the mapping are wrong, so that every mistake is told at once. */
export function crossChecked<Schema extends z.ZodType>(
  schema: Schema,
  find: (value: Unchecked<z.output<Schema>>) => Iterable<CrossProblem>,
): Schema {
  return schema.superRefine(
    (value, context) => {
      for (const { path, message, atKey = false } of find(value as Unchecked<z.output<Schema>>)) {
        context.addIssue({ code: 'custom', path: [...path], message, params: { atKey } });
      }
    },
    { when: ({ value }) => isMapping(value) },
  );
}

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
