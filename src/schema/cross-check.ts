import type * as z from 'zod';
import { isObject } from '../model/values.ts';

export type Mapping = Readonly<Record<string, unknown>>;

export function mappingOf(value: unknown): Mapping {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export interface CrossProblem {
  /** Relative to the checked mapping. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The position is that of the key, not of its value. */
  readonly atKey?: boolean;
}

/** A mapping whose keys are known and whose values may be invalid. */
export type Unchecked<Output> = { readonly [Key in keyof Output]?: unknown };

/** Runs `check` even when parts of the mapping are invalid, so that all problems are reported at once. */
export function crossChecked<Schema extends z.ZodType>(
  schema: Schema,
  check: (value: Unchecked<z.output<Schema>>) => Iterable<CrossProblem>,
  isCheckable: (value: unknown) => boolean = isObject,
): Schema {
  return schema.superRefine(
    (value, context) => {
      for (const { path, message, atKey = false } of check(value as Unchecked<z.output<Schema>>)) {
        context.addIssue({ code: 'custom', path: [...path], message, params: { atKey } });
      }
    },
    { when: ({ value }) => isCheckable(value) },
  );
}
