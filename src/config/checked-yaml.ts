import type * as z from 'zod';
import { TaskQueue } from '../model/task-queue.ts';
import { type ConfigPath, formatPath, type Problem } from './problem.ts';
import { expectation, schemaProblems } from './schema-problem.ts';
import { type Environment, readYaml, type YamlDocument, type YamlProblem } from './yaml-document.ts';

interface YamlText {
  /** Shown in problems. */
  readonly file: string;
  readonly text: string;
  /** Without it, no variables are substituted. */
  readonly env?: Environment;
}

export interface ParsedYaml {
  /** The parsed YAML, before validation. */
  readonly raw: unknown;
  /** Locates a problem that was found after validation. */
  readonly problemAt: (path: ConfigPath, message: string) => Problem;
  /** Whether the value at the path contains environment variables. */
  readonly isSubstituted: (path: ConfigPath) => boolean;
}

/** The content is missing when the text is not valid YAML. */
export type CheckedYaml<Value> =
  | ({ readonly ok: true; readonly value: Value } & ParsedYaml)
  | ({ readonly ok: false; readonly problems: readonly Problem[] } & Partial<ParsedYaml>);

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

/** Parses and validates the text in short steps, each `next` is one; returns the value, or all problems in the order of the file. */
export function* checkSteps<Schema extends z.ZodType>(
  schema: Schema,
  { file, text, env }: YamlText,
): Generator<void, CheckedYaml<z.output<Schema>>> {
  const document = yield* readYaml(text, env);
  const problemOf = ({ offset, path, message }: YamlProblem) => ({
    file,
    ...document.position(offset),
    path: formatPath(path),
    message,
  });
  const rejected = (problems: readonly YamlProblem[]) =>
    ({ ok: false, problems: problems.toSorted((a, b) => a.offset - b.offset).map(problemOf) }) as const;
  if (document.data === undefined) return rejected(document.problems);
  yield;
  const { raw } = document.data;
  const { error, data } = schema.safeParse(raw, { error: expectation, reportInput: true });
  yield;
  const problems = [...document.problems, ...issueProblems(schema, error?.issues ?? [], raw, document)];
  const parsed: ParsedYaml = {
    raw,
    problemAt: (path, message) => problemOf({ offset: document.locate(path), path, message }),
    isSubstituted: (path) => document.isSubstituted(path),
  };
  if (data === undefined || problems.length > 0) return { ...rejected(problems), ...parsed };
  return { ok: true, value: data, ...parsed };
}

/** Drops duplicates, and problems of strings whose substitution already failed. */
function issueProblems(
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  raw: unknown,
  document: YamlDocument,
): readonly YamlProblem[] {
  const reported = new Set(document.problems.map(({ offset }) => offset));
  const unique = new Map<string, YamlProblem>();
  for (const { path, shownPath, message, atKey } of schemaProblems(issues, schema, raw)) {
    const offset = document.locate(path, atKey);
    if (!reported.has(offset)) unique.set(`${formatPath(path)}: ${message}`, { offset, path: shownPath, message });
  }
  return [...unique.values()];
}
