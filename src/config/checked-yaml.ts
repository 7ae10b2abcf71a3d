import type * as z from 'zod';
import { TaskQueue } from '../model/task-queue.ts';
import { byPosition, type Problem } from './problem.ts';
import { expectation, schemaProblems } from './schema-problem.ts';
import { readYaml, type YamlDocument, type YamlText } from './yaml-document.ts';

/** The value, or all problems in the order of the file. */
export type CheckedYaml<Value> = { readonly document: YamlDocument } & (
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] }
);

/** The result of the steps, taken without a pause. */
export function completed<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The result of the steps, taken one per event-loop iteration. */
export async function completedWithPauses<T>(steps: Iterator<void, T>): Promise<T> {
  const tasks = new TaskQueue();
  for (;;) {
    const step = await tasks.run(() => steps.next());
    if (step.done === true) return step.value;
  }
}

/** Parses and validates the text in short steps, each `next` is one. */
export function* checkSteps<Schema extends z.ZodType>(
  schema: Schema,
  source: YamlText,
): Generator<void, CheckedYaml<z.output<Schema>>> {
  const document = yield* readYaml(source);
  const problems = [...document.problems];
  if (document.raw !== undefined) {
    yield;
    const { error, data } = schema.safeParse(document.raw, { error: expectation, reportInput: true });
    yield;
    if (error === undefined && problems.length === 0) return { ok: true, value: data, document };
    problems.push(...schemaProblems(error?.issues ?? [], schema, document));
  }
  return { ok: false, problems: problems.toSorted(byPosition), document };
}
