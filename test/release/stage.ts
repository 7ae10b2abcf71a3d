import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE, releaseFiles } from '../../scripts/release/release.ts';
import { run } from '../../scripts/release/run.ts';

export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run scripts/check-release.sh`);
  return value;
}

type Environment = Readonly<Record<string, string>>;

/** A command that fails, or after which the program that called it is killed. */
export interface Fault {
  readonly command: string;
  readonly after: boolean;
}

/** Where a release is rehearsed: a clone of this repository, local registries, and a stand-in of GitHub. */
export class Stage {
  readonly work = required('REHEARSAL_FOLDER');
  readonly imageRepository: string;
  readonly chartRepository: string;
  /** Of the job that publishes, and of users. */
  readonly environment: Environment;
  readonly #names: Environment;
  readonly #clone = join(this.work, 'clone');
  readonly #releases = join(this.work, 'releases');
  readonly #npm = required('NPM_REGISTRY');
  readonly #outputs = join(this.work, 'outputs');

  constructor() {
    const { host } = new URL(required('IMAGE_REGISTRY'));
    this.imageRepository = `${host}/project/${PACKAGE}`;
    this.chartRepository = `${host}/project/charts/${PACKAGE}`;
    this.#names = {
      IMAGE_REPOSITORY: this.imageRepository,
      CHART_REPOSITORY: this.chartRepository,
      INSECURE_REGISTRY: 'true',
    };
    this.environment = {
      ...this.#names,
      npm_config_registry: `${this.#npm}/`,
      npm_config_cache: join(this.work, 'npm-cache'),
      npm_config_userconfig: join(this.work, 'npmrc'),
      HELM_CACHE_HOME: join(this.work, 'helm'),
      HELM_CONFIG_HOME: join(this.work, 'helm'),
      GH_FOLDER: this.#releases,
      TOOLS_PATH: `${join(import.meta.dirname, 'tools')}:${process.env['PATH']}`,
    };
    mkdirSync(this.#releases);
    mkdirSync(join(this.work, 'tools'));
    for (const tool of ['npm', 'skopeo', 'helm', 'gh']) {
      symlinkSync(join(import.meta.dirname, 'tools/faulty'), join(this.work, 'tools', tool));
    }
    this.#cloneRepository();
  }

  /** Runs a tool as a user does. */
  run(command: string, ...args: readonly string[]): string {
    return run(command, args, { cwd: this.work, env: this.environment }).trim();
  }

  /** Creates a user of the local registry. */
  async logIn(): Promise<void> {
    const user = { name: 'rehearsal', password: 'rehearsal-password', type: 'user', roles: [] };
    const reply = await fetch(`${this.#npm}/-/user/org.couchdb.user:rehearsal`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...user, _id: 'org.couchdb.user:rehearsal' }),
    });
    const { token } = (await reply.json()) as { readonly token: string };
    writeFileSync(join(this.work, 'npmrc'), `//${new URL(this.#npm).host}/:_authToken=${token}\n`);
  }

  /** The last commit, on the base images that the machine can reach. */
  #cloneRepository(): void {
    run('git', ['clone', '--quiet', '--no-hardlinks', join(import.meta.dirname, '../..'), this.#clone]);
    this.change('Dockerfile', (text) =>
      text.replace(/^ARG (BUILD|RUNTIME)_IMAGE=.*/gm, (_, name) => `ARG ${name}_IMAGE=${required(`${name}_IMAGE`)}`),
    );
  }

  /** Changes a file of the clone; the next version is released with it. */
  change(file: string, edit: (text: string) => string): void {
    const path = join(this.#clone, file);
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
  }

  git(...args: readonly string[]): void {
    run('git', args, { cwd: this.#clone });
  }

  /** Adds a commit that releases the version, and its tag. */
  tagVersion(version: string): void {
    this.change('CHANGELOG.md', (text) => {
      const section = `# Changelog\n\n## ${version} / unreleased\n\n* [BUGFIX] A rehearsed one.\n`;
      return text.includes(`\n## ${version} / `) ? text : text.replace('# Changelog\n', section);
    });
    this.#runProgram('prepare.ts', [version]);
    const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@example.com'];
    this.git(...author, 'commit', '--quiet', '--all', '--message', `release: ${version}`);
    this.git('tag', `v${version}`);
  }

  build(version: string, name: string = version): string {
    return this.#runProgram('build.ts', [`v${version}`, join(this.work, name)]);
  }

  /** The commit of a version. */
  revision(version: string): string {
    return run('git', ['rev-parse', `v${version}^{commit}`], { cwd: this.#clone }).trim();
  }

  /** The files of a build. */
  files(version: string, name: string = version) {
    return releaseFiles(join(this.work, name), version);
  }

  publish(version: string, { name = version, fault }: { readonly name?: string; readonly fault?: Fault } = {}): string {
    return this.#runProgram('publish.ts', [`v${version}`, join(this.work, name)], {
      ...this.environment,
      PATH: `${join(this.work, 'tools')}:${process.env['PATH']}`,
      GITHUB_OUTPUT: this.#outputs,
      FAULT: fault?.command ?? 'none',
      FAULT_AFTER: fault?.after ? 'true' : '',
    });
  }

  /** What the program that publishes hands to the following steps. */
  outputs(): Readonly<Record<string, string>> {
    const lines = readFileSync(this.#outputs, 'utf8').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split('=', 2)));
  }

  #runProgram(program: string, args: readonly string[], env: Environment = {}): string {
    const options = { cwd: this.#clone, env: { ...this.#names, ...env } };
    return run(process.execPath, [`scripts/release/${program}`, ...args], options).trim();
  }

  /** Publishes a package without contents, which the owner does once by hand: "The first release" in CONTRIBUTING.md. */
  publishPlaceholder(): void {
    const folder = mkdtempSync(join(this.work, 'placeholder-'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: PACKAGE, version: '0.0.0' }));
    this.run('npm', 'publish', '--access=public', folder);
  }

  /** As a job leaves it that is killed while `gh` attaches the files. */
  leaveDraft(version: string): void {
    mkdirSync(join(this.#releases, `v${version}`));
    writeFileSync(join(this.#releases, `v${version}`, 'state.json'), '{ "isDraft": true }');
  }

  /** The folder of the files that are attached to a release. */
  release(version: string): string {
    return join(this.#releases, `v${version}`);
  }

  /** What users see of the releases. */
  published() {
    const releases = readdirSync(this.#releases).toSorted();
    const isLatest = (tag: string) =>
      JSON.parse(readFileSync(join(this.#releases, tag, 'state.json'), 'utf8')).isLatest === true;
    return {
      distTags: JSON.parse(this.run('npm', 'view', PACKAGE, 'dist-tags', '--json', '--prefer-online')),
      latestImage: this.digestOfTag('latest'),
      latestRelease: releases.findLast(isLatest),
    };
  }

  digestOfTag(tag: string): string {
    const reference = `docker://${this.imageRepository}:${tag}`;
    return this.run('skopeo', 'inspect', '--tls-verify=false', '--format={{.Digest}}', reference);
  }
}
