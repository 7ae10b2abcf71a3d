import type * as z from 'zod';
import { TaskQueue } from '../model/task-queue.ts';
import { type ConfigPath, formatPath, type Problem } from './problem.ts';
import { expectation, schemaProblems } from './schema-problem.ts';
import { type ContentProblem, type Environment, YamlContent } from './yaml-content.ts';
import { readYaml } from './yaml-document.ts';

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

/** The content is missing when the text is no usable YAML. */
export type CheckedYaml<Value> =
  | ({ readonly ok: true; readonly value: Value } & ParsedYaml)
  | ({ readonly ok: false; readonly problems: readonly Problem[] } & Partial<ParsedYaml>);

/** Parses and validates the text; returns the value, or all problems in the order of the file. */
export function checkYaml<Schema extends z.ZodType>(schema: Schema, source: YamlText): CheckedYaml<z.output<Schema>> {
  return completed(checkSteps(schema, source));
}

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

/** Does the work of `checkYaml` in short steps: each `next` is one. */
export function* checkSteps<Schema extends z.ZodType>(
  schema: Schema,
  { file, text, env }: YamlText,
): Generator<void, CheckedYaml<z.output<Schema>>> {
  const positionOf = positions(text);
  const problem = ({ offset, path, message }: ContentProblem) => ({
    file,
    ...positionOf(offset),
    path: formatPath(path),
    message,
  });
  const rejected = (problems: readonly ContentProblem[]) =>
    ({ ok: false, problems: problems.toSorted((a, b) => a.offset - b.offset).map(problem) }) as const;
  const { problems: syntax, document } = yield* readYaml(text);
  const problems: readonly ContentProblem[] = syntax.map((found) => ({ ...found, path: [] }));
  if (document === undefined) return rejected(problems);
  yield;
  const content = new YamlContent(document.contents, env);
  if (content.data === undefined) return rejected(problems.concat(content.problems));
  yield;
  const { raw } = content.data;
  const { error, data } = schema.safeParse(raw, { error: expectation, reportInput: true });
  yield;
  const all = [...problems, ...content.problems, ...issueProblems(schema, error?.issues ?? [], raw, content)];
  const problemAt: ParsedYaml['problemAt'] = (path, message) =>
    problem({ offset: content.locate(path), path, message });
  const parsed: ParsedYaml = { raw, problemAt, isSubstituted: (path) => content.isSubstituted(path) };
  if (data === undefined || all.length > 0) return { ...rejected(all), ...parsed };
  return { ok: true, value: data, ...parsed };
}

/** Drops duplicates, and problems of strings whose substitution already failed. */
function issueProblems(
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  raw: unknown,
  content: YamlContent,
): readonly ContentProblem[] {
  const reported = new Set(content.problems.map(({ offset }) => offset));
  const unique = new Map<string, ContentProblem>();
  for (const { path, shownPath, message, atKey } of schemaProblems(issues, schema, raw)) {
    const offset = content.locate(path, atKey);
    if (!reported.has(offset)) unique.set(`${formatPath(path)}: ${message}`, { offset, path: shownPath, message });
  }
  return [...unique.values()];
}

/** Finds the line and column of an offset. */
function positions(text: string): (offset: number) => { readonly line: number; readonly column: number } {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [line, end] = [0, starts.length];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if ((starts[middle] as number) <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: offset - (starts[line] as number) + 1 };
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
