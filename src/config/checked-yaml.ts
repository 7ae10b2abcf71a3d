import { setImmediate as pause } from 'node:timers/promises';
import type * as z from 'zod';
import { byPosition, type Problem } from './problem.ts';
import { expectation, schemaProblems } from './schema-problem.ts';
import { readYaml, type YamlDocument, type YamlText } from './yaml-document.ts';

/** The value, or all problems in the order of the file. */
export type CheckedYaml<Value> = { readonly document: YamlDocument } & (
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] }
);

/** Pauses while it parses and validates the text: large files must not delay scrapes. */
export async function checkYaml<Schema extends z.ZodType>(
  schema: Schema,
  source: YamlText,
): Promise<CheckedYaml<z.output<Schema>>> {
  const document = await readYaml(source);
  const problems = [...document.problems];
  if (document.raw !== undefined) {
    await pause();
    const { error, data } = schema.safeParse(document.raw, { error: expectation, reportInput: true });
    await pause();
    if (error === undefined && problems.length === 0) return { ok: true, value: data, document };
    problems.push(...schemaProblems(error?.issues ?? [], schema, document));
  }
  return { ok: false, problems: problems.toSorted(byPosition), document };
}
