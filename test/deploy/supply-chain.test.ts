import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const WORKFLOWS = '.github/workflows';

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflows = readdirSync(join(root, WORKFLOWS)).map((file) => {
  const text = read(`${WORKFLOWS}/${file}`);
  return { file, text, workflow: parse(text) as Workflow };
});

describe.each(workflows)('.github/workflows/$file', ({ text, workflow }) => {
  it('pins every action by commit, with its version as a comment', () => {
    const uses = text.match(/(?<=uses: ).*/g) ?? [];
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  it('pins an action by the same commit everywhere', () => {
    const actions = workflows.flatMap((other) => other.text.match(/(?<=uses: ).*/g) ?? []);
    const names = new Set(actions.map((action) => action.replace(/@.*/, '')));
    expect(new Set(actions).size).toBe(names.size);
  });

  it('grants no job more than to read the contents unless it asks for it', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
  });

  it('runs no code of the repository or of a dependency in a job that can write', () => {
    const jobs = Object.values(workflow.jobs).filter(({ permissions = {} }) =>
      Object.values(permissions).includes('write'),
    );
    const steps = jobs.flatMap((job) => job.steps);
    expect(steps.filter(({ uses = '' }) => /^actions\/checkout@|^docker\/build-push-action@/.test(uses))).toEqual([]);
    expect(
      steps.filter(({ run = '' }) =>
        /\bnpm (?!publish --ignore-scripts )|\bnpx\b|\bnode\b|scripts\/|docker build/.test(run),
      ),
    ).toEqual([]);
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

describe('the base images', () => {
  const dockerfile = read('Dockerfile');
  const images = new Map(
    Array.from(dockerfile.matchAll(/^ARG (\w+_IMAGE)=(.*)$/gm), ([, name = '', image = '']) => [name, image]),
  );

  it('are arguments with a registry and a tag, and a digest once they are pinned', () => {
    expect([...images.keys()]).toEqual(['BUILD_IMAGE', 'RUNTIME_IMAGE']);
    for (const image of images.values()) expect(image).toMatch(/^[\w.]+\.\w+\/[\w./-]+:[\w.-]+(@sha256:[\da-f]{64})?$/);
  });

  it('are the only ones', () => {
    const stages = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image]) => image);
    expect(stages).toEqual([...images.keys()].map((name) => `\${${name}}`));
  });
});

describe('renovate.json', () => {
  it('pins actions and images', () => {
    expect(JSON.parse(read('renovate.json')).extends).toEqual(
      expect.arrayContaining(['docker:pinDigests', 'helpers:pinGitHubActionDigestsToSemver']),
    );
  });
});
