import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../docs/markdown.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

const WORKFLOWS = '.github/workflows';

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflows = readdirSync(join(root, WORKFLOWS)).map((file) => {
  const text = read(`${WORKFLOWS}/${file}`);
  return { file, text, workflow: parse(text) as Workflow };
});

/** The actions that a workflow uses; a workflow of this repository has the commit of the run. */
const actionsOf = (text: string) => (text.match(/(?<=uses: ).*/g) ?? []).filter((action) => !action.startsWith('./'));

describe.each(workflows)('.github/workflows/$file', ({ text, workflow }) => {
  it('pins every action by commit, with its version as a comment', () => {
    const uses = actionsOf(text);
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  it('pins every image by digest, with its tag', () => {
    const images = text.match(/\bdocker\.io\/\S+/g) ?? [];
    expect(images.filter((image) => !/:[\w.-]+@sha256:[\da-f]{64}$/.test(image))).toEqual([]);
  });

  it('grants no job more than to read the contents unless it asks for it', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  it('runs nothing but the program that publishes in a job that can publish', () => {
    const jobs = Object.values(workflow.jobs).filter(({ permissions = {} }) =>
      ['contents', 'packages', 'attestations'].some((name) => permissions[name] === 'write'),
    );
    const runs = jobs.flatMap((job) => job.steps ?? []).flatMap(({ run }) => run ?? []);
    const programs = runs.flatMap(
      (run) => run.match(/\b(?:npm|npx|node|docker|buildah|bash|sh)\b.*|scripts\/.*/g) ?? [],
    );
    expect(programs.filter((program) => !program.startsWith('node scripts/release/publish.ts '))).toEqual([]);
  });

  it('publishes in an environment alone', () => {
    const jobs = Object.values(workflow.jobs).filter(({ permissions = {} }) => permissions['packages'] === 'write');
    expect(jobs.map(({ environment }) => environment)).toEqual(jobs.map(() => 'release'));
  });
});

describe('scripts/release/publish.ts', () => {
  /** The file with those that it imports, and the packages among them. */
  function importsOf(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const [, name = ''] of read(file).matchAll(/from '([^']+)'/g)) {
      if (name.startsWith('.')) importsOf(join('scripts/release', name), seen);
      else seen.add(name);
    }
    return seen;
  }

  it('uses no package, so that no dependency runs where it could publish', () => {
    const imports = [...importsOf('scripts/release/publish.ts')].filter((name) => !name.startsWith('scripts/release/'));
    expect(imports.filter((name) => !name.startsWith('node:'))).toEqual([]);
  });
});

describe('npm ci', () => {
  it.each([...workflows.map(({ file }) => `${WORKFLOWS}/${file}`), 'Dockerfile', '.ci/run'])(
    'runs no install scripts in %s',
    (file) => {
      expect(read(file)).not.toMatch(/npm ci(?! --ignore-scripts)/);
    },
  );
});
