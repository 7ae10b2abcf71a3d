import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Release, readRelease, sha256 } from '../../scripts/release/release.ts';
import { execute, outputOf } from './execute.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { type Places, type Published, published, reset } from './state.ts';

export function fail(message: string): never {
  throw new Error(message);
}

export function required(name: string): string {
  return process.env[name] ?? fail(`${name} is not set: run scripts/check-release.sh`);
}

type Environment = Readonly<Record<string, string>>;

/** Where a release is rehearsed: a clone of this repository, registries behind proxies that can fail, and a stand-in of GitHub. */
export class Stage {
  readonly work: string;
  readonly npm: FaultyProxy;
  readonly images: FaultyProxy;
  readonly places: Places;
  readonly imageRepository: string;
  readonly chartRepository: string;
  /** Of the job that publishes, and of users. */
  readonly environment: Environment;
  readonly #clone: string;
  readonly #names: Environment;

  private constructor(work: string, npm: FaultyProxy, images: FaultyProxy) {
    this.work = work;
    this.npm = npm;
    this.images = images;
    this.places = {
      npm: required('NPM_REGISTRY'),
      images: required('IMAGE_REGISTRY'),
      npmFolder: join(work, 'npm-registry'),
      imagesFolder: join(work, 'image-registry'),
      ghFolder: join(work, 'releases'),
    };
    this.imageRepository = `${images.host}/project/telemetry-station-exporter`;
    this.chartRepository = `${images.host}/project/charts/telemetry-station-exporter`;
    this.#clone = join(work, 'clone');
    this.#names = {
      IMAGE_REPOSITORY: this.imageRepository,
      CHART_REPOSITORY: this.chartRepository,
      INSECURE_REGISTRY: 'true',
    };
    this.environment = {
      ...this.#names,
      npm_config_registry: `http://${npm.host}/`,
      npm_config_cache: join(work, 'npm-cache'),
      npm_config_userconfig: join(work, 'npmrc'),
      // A fault stays until the run has failed.
      npm_config_fetch_retries: '0',
      GH_FOLDER: this.places.ghFolder,
      PATH: `${join(work, 'bin')}:${process.env['PATH']}`,
    };
  }

  static async create(): Promise<Stage> {
    const npm = await FaultyProxy.start(required('NPM_REGISTRY'));
    const images = await FaultyProxy.start(required('IMAGE_REGISTRY'));
    const stage = new Stage(required('REHEARSAL_FOLDER'), npm, images);
    stage.#writeGh();
    await stage.#logIn();
    await stage.#cloneRepository();
    return stage;
  }

  #writeGh(): void {
    mkdirSync(join(this.work, 'bin'), { recursive: true });
    const gh = join(this.work, 'bin/gh');
    writeFileSync(gh, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, 'gh.ts')}" "$@"\n`);
    chmodSync(gh, 0o755);
  }

  /** Creates a user of the local registry. */
  async #logIn(): Promise<void> {
    const user = { name: 'rehearsal', password: 'rehearsal-password', type: 'user', roles: [] };
    const reply = await fetch(`${this.places.npm}/-/user/org.couchdb.user:rehearsal`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...user, _id: 'org.couchdb.user:rehearsal' }),
    });
    const { token } = (await reply.json()) as { readonly token?: string };
    const line = `//${this.npm.host}/:_authToken=${token ?? fail('expected a token of the registry')}\n`;
    writeFileSync(join(this.work, 'npmrc'), line);
  }

  /** The last commit, on the base images that the machine can reach. */
  async #cloneRepository(): Promise<void> {
    const root = join(import.meta.dirname, '../..');
    await outputOf('git', ['clone', '--quiet', '--no-hardlinks', root, this.#clone]);
    symlinkSync(join(root, 'node_modules'), join(this.#clone, 'node_modules'));
    this.change('Dockerfile', (text) =>
      text.replace(/^ARG (BUILD|RUNTIME)_IMAGE=.*/gm, (_, name) => `ARG ${name}_IMAGE=${required(`${name}_IMAGE`)}`),
    );
  }

  /** Changes a file of the clone; the next version is released with it. */
  change(file: string, edit: (text: string) => string): void {
    const path = join(this.#clone, file);
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
  }

  /** Adds a commit that releases the version, and its tag. */
  async tagVersion(version: string): Promise<void> {
    this.change('CHANGELOG.md', (text) => {
      const section = `# Changelog\n\n## ${version} / unreleased\n\n* [BUGFIX] A rehearsed one.\n`;
      return text.includes(`\n## ${version} / `) ? text : text.replace('# Changelog\n', section);
    });
    await outputOf(process.execPath, ['scripts/release/prepare.ts', version], { cwd: this.#clone, env: this.#names });
    const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@example.com'];
    await this.git(...author, 'commit', '--quiet', '--all', '--message', `release: ${version}`);
    await this.git('tag', `v${version}`);
  }

  git(...args: readonly string[]): Promise<string> {
    return outputOf('git', args, { cwd: this.#clone });
  }

  /** Runs scripts/release/build.ts, which may fail. */
  tryBuild(tag: string, folder: string) {
    const args = ['scripts/release/build.ts', tag, join(this.work, folder)];
    return execute(process.execPath, args, { cwd: this.#clone, env: this.#names });
  }

  async build(version: string, folder: string): Promise<string> {
    const { code, output } = await this.tryBuild(`v${version}`, folder);
    return code === 0 ? output.trim() : fail(output);
  }

  /** Runs scripts/release/publish.ts, which may fail. */
  tryPublish(folder: string, env: Environment = {}) {
    const args = ['scripts/release/publish.ts', join(this.work, folder)];
    return execute(process.execPath, args, { cwd: this.#clone, env: { ...this.environment, ...env } });
  }

  async publish(folder: string): Promise<string> {
    const { code, output } = await this.tryPublish(folder);
    return code === 0 ? output.trim() : fail(output);
  }

  release(folder: string): Release {
    return readRelease(join(this.work, folder));
  }

  /** What users see, without the proxies. */
  published(): Promise<Published> {
    return published(this.places);
  }

  /** Nothing is published, as before the owner has created the package. */
  empty(): void {
    reset(this.places);
  }

  /** Only the placeholder is published, which the owner creates once by hand: "The first release" in CONTRIBUTING.md. */
  async placeholderOnly(): Promise<void> {
    this.empty();
    const kept = join(this.work, 'placeholder');
    const stored = join(this.places.npmFolder, 'telemetry-station-exporter');
    if (existsSync(kept)) {
      cpSync(kept, stored, { recursive: true });
    } else {
      await this.publishPackage('0.0.0');
      cpSync(stored, kept, { recursive: true });
    }
  }

  /** Publishes a package without contents. */
  async publishPackage(version: string): Promise<void> {
    const folder = join(this.work, `package-${version}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'telemetry-station-exporter', version }));
    await outputOf('npm', ['publish', '--access=public'], { cwd: folder, env: this.environment });
  }

  /** What was built, with an image of a few bytes: the steps of its publication are the same. */
  copyWithSmallImage(from: string, to: string): void {
    const [source, target] = [join(this.work, from), join(this.work, to)];
    cpSync(join(source, 'assets'), join(target, 'assets'), { recursive: true });
    cpSync(join(source, 'notes.md'), join(target, 'notes.md'));
    for (const folder of ['chart', 'image']) cpSync(join(source, 'chart'), join(target, folder), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(target, 'image/manifest.json'), 'utf8'));
    const text = JSON.stringify({ ...manifest, annotations: { small: 'image' } });
    writeFileSync(join(target, 'image/manifest.json'), text);
    this.#replaceInAssets(target, this.release(from).image.digest.slice('sha256:'.length), sha256(text));
  }

  #replaceInAssets(folder: string, old: string, digest: string): void {
    const [file, sums] = ['release.json', 'SHA256SUMS'].map((name) => join(folder, 'assets', name)) as [string, string];
    const before = readFileSync(file, 'utf8');
    const after = before.replaceAll(old, digest);
    writeFileSync(file, after);
    const lines = readFileSync(sums, 'utf8').replaceAll(old, digest).replace(sha256(before), sha256(after));
    writeFileSync(sums, lines);
  }

  /** Names and digests of all files that a build has written. */
  filesOf(folder: string): readonly string[] {
    const root = join(this.work, folder);
    const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const files = entries.map((entry) => join(entry.parentPath, entry.name));
    return files.map((file) => `${file.slice(root.length)} ${sha256(readFileSync(file))}`).toSorted();
  }

  stop(): void {
    this.npm.stop();
    this.images.stop();
  }
}
