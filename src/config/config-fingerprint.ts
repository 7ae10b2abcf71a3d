import { createHash, type Hash } from 'node:crypto';
import { contentOf, type FileContent, MAX_CONFIG_BYTES } from '../files/regular-file.ts';
import { secretFiles, stationFilePatterns } from './load.ts';
import { readStationFiles } from './station-files.ts';
import { type Environment, readYaml } from './yaml-document.ts';

/** A checksum of the configuration file and the files it depends on: station files, secrets and certificates. */
export class ConfigFingerprint {
  readonly #file: string;
  readonly #env: Environment;
  /** What the dependencies were taken from. */
  #text: string | undefined;
  #stationFiles: readonly string[] = [];
  #secretFiles: readonly string[] = [];

  constructor(file: string, env: Environment) {
    this.#file = file;
    this.#env = env;
  }

  /** Reads all files. A file that cannot be read contributes its error. */
  async read(): Promise<string> {
    const main = await contentOf(this.#file, MAX_CONFIG_BYTES);
    if ('text' in main) await this.#updateDependencies(main.text);
    const hash = createHash('sha256');
    addFile(hash, this.#file, main);
    for (const { file, content } of await readStationFiles(this.#stationFiles)) addFile(hash, file, content);
    for (const file of this.#secretFiles) addFile(hash, file, await contentOf(file));
    return hash.digest('hex');
  }

  /** A file that is not YAML keeps the dependencies of the one before. */
  async #updateDependencies(text: string): Promise<void> {
    if (text === this.#text) return;
    this.#text = text;
    const { raw } = await readYaml({ file: this.#file, text, env: this.#env });
    if (raw === undefined) return;
    this.#stationFiles = stationFilePatterns(this.#file, raw);
    this.#secretFiles = secretFiles(this.#file, raw);
  }
}

/** The lengths keep two files apart from one that contains both. */
function addFile(hash: Hash, file: string, content: FileContent): void {
  const entry = 'text' in content ? [file, content.text] : [file, content.error.message, 'error'];
  hash.update(JSON.stringify(entry.map((text) => text.length)));
  for (const text of entry) hash.update(text);
}
