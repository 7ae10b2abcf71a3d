import type { Document } from 'yaml';
import type * as z from 'zod';
import { checkDocument, type Finding } from './document-check.ts';
import type { Environment } from './environment.ts';
import { expectation, schemaFindings } from './issue.ts';
import { locate } from './locate.ts';
import { type ConfigPath, formatPath, type Problem } from './problem.ts';
import { readYaml } from './yaml-source.ts';

interface YamlText {
  /** For messages. */
  readonly file: string;
  readonly text: string;
  /** Left out: texts stay as they are written. */
  readonly env?: Environment;
}

export type CheckedYaml<Value> =
  | {
      readonly ok: true;
      readonly value: Value;
      /** The file as plain data, before the schema read it. */
      readonly raw: unknown;
      /** A mistake that the text alone does not show. */
      readonly problemAt: (path: ConfigPath, message: string) => Problem;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The text as the schema reads it, or every problem in it, in the order of the file. */
export function checkYaml<Schema extends z.ZodType>(schema: Schema, { file, text, env }: YamlText): CheckedYaml<z.output<Schema>> {
  const problem = ({ offset, path, message }: Finding) => ({ file, ...position(text, offset), path: formatPath(path), message });
  const reading = read(schema, text, env);
  if ('findings' in reading) return { ok: false, problems: reading.findings.toSorted((a, b) => a.offset - b.offset).map(problem) };
  const { value, raw, document } = reading;
  return { ok: true, value, raw, problemAt: (path, message) => problem({ offset: locate(document, path), path, message }) };
}

type Reading<Value> =
  | { readonly findings: readonly Finding[] }
  | { readonly value: Value; readonly raw: unknown; readonly document: Document.Parsed };

function read<Schema extends z.ZodType>(schema: Schema, text: string, env: Environment | undefined): Reading<z.output<Schema>> {
  const { mistakes, document } = readYaml(text);
  const findings: Finding[] = mistakes.map((mistake) => ({ ...mistake, path: [] }));
  if (document === undefined) return { findings };
  const content = checkDocument(document, env);
  findings.push(...content);
  if (content.some(({ fatal }) => fatal === true)) return { findings };
  const plain = plainData(document);
  if (plain === undefined) return { findings: [...findings, EXPLODING] };
  const { error, data } = schema.safeParse(plain.raw, { error: expectation, reportInput: true });
  findings.push(...issueFindings(schema, error?.issues ?? [], document, content));
  return data !== undefined && findings.length === 0 ? { value: data, raw: plain.raw, document } : { findings };
}

const EXPLODING: Finding = { offset: 0, path: [], message: 'the aliases repeat too much, expected fewer of them' };

/** The reader refuses aliases that multiply, and those that hold themselves. */
function plainData(document: Document.Parsed): { readonly raw: unknown } | undefined {
  try {
    return { raw: document.toJS() };
  } catch {
    return undefined;
  }
}

/** One finding per mistake: a string that the environment should have filled is not judged a second time. */
function issueFindings(
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  document: Document.Parsed,
  content: readonly Finding[],
): readonly Finding[] {
  const judged = new Set(content.map(({ offset }) => offset));
  const found = new Map<string, Finding>();
  for (const { path, shownPath, message, atKey } of issues.flatMap((issue) => schemaFindings(issue, schema))) {
    const offset = locate(document, path, atKey);
    if (!judged.has(offset)) found.set(`${formatPath(path)}: ${message}`, { offset, path: shownPath, message });
  }
  return [...found.values()];
}

function position(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
