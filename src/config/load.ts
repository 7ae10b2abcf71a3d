import type { Document } from 'yaml';
import type * as z from 'zod';
import { checkDocument, type Finding } from './document-check.ts';
import type { Environment } from './environment.ts';
import { filesBeside } from './file-paths.ts';
import { expectation, schemaFindings } from './issue.ts';
import { locate } from './locate.ts';
import { formatPath, type Problem } from './problem.ts';
import { type Config, configSchema } from './schema.ts';
import { readYaml } from './yaml-source.ts';

export interface ConfigSource {
  /** The file's name: for messages, and as the place that relative paths start from. */
  readonly file: string;
  readonly text: string;
  readonly env: Environment;
}

export interface LoadedConfig {
  readonly ok: true;
  readonly config: Config;
  /** The file as plain data, for comparing one load with another; it holds the secrets, so it is never shown. */
  readonly raw: unknown;
}

export type LoadResult = LoadedConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/** Tells every problem, in the order of the file. */
export function loadConfig({ file, text, env }: ConfigSource): LoadResult {
  const reading = readConfig(text, env);
  if ('config' in reading) return { ok: true, config: filesBeside(file, reading.config), raw: reading.raw };
  const problems = reading.findings
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, path, message }) => ({ file, ...position(text, offset), path: formatPath(path), message }));
  return { ok: false, problems };
}

type Reading = { readonly findings: readonly Finding[] } | { readonly config: Config; readonly raw: unknown };

function readConfig(text: string, env: Environment): Reading {
  const { mistakes, document } = readYaml(text);
  const findings: Finding[] = mistakes.map((mistake) => ({ ...mistake, path: [] }));
  if (document === undefined) return { findings };
  const content = checkDocument(document, env);
  findings.push(...content);
  if (content.some(({ fatal }) => fatal === true)) return { findings };
  const plain = plainData(document);
  if (plain === undefined) return { findings: [...findings, EXPLODING] };
  const { error, data } = configSchema.safeParse(plain.raw, { error: expectation, reportInput: true });
  findings.push(...issueFindings(error?.issues ?? [], document, content));
  return data !== undefined && findings.length === 0 ? { config: data, raw: plain.raw } : { findings };
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
function issueFindings(issues: readonly z.core.$ZodIssue[], document: Document.Parsed, content: readonly Finding[]): readonly Finding[] {
  const judged = new Set(content.map(({ offset }) => offset));
  const found = new Map<string, Finding>();
  for (const { path, shownPath, message, atKey } of issues.flatMap(schemaFindings)) {
    const offset = locate(document, path, atKey);
    if (!judged.has(offset)) found.set(`${formatPath(path)}: ${message}`, { offset, path: shownPath, message });
  }
  return [...found.values()];
}

function position(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
