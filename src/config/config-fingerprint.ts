import { createHash } from 'node:crypto';
import { contentOf } from './file-content.ts';
import { stationFilePatterns } from './load.ts';
import { readStationFiles } from './station-files.ts';
import { type Environment, readYaml } from './yaml-document.ts';

/**
 * Returns a function that reads the configuration file and the station files and returns their checksum, as Prometheus does: upstreams read
 * the files of secrets and certificates each time they use them. A file that cannot be read contributes its error.
 */
export function configFingerprint(file: string, env: Environment): () => Promise<string> {
  /** What the station files were taken from. */
  let text: string | undefined;
  let stationFiles: readonly string[] = [];
  return async () => {
    const main = await contentOf(file);
    if (main.ok && main.text !== text) {
      text = main.text;
      const { raw } = readYaml({ file, text, env });
      // A file that is not YAML keeps the station files of the one before.
      if (raw !== undefined) stationFiles = stationFilePatterns(file, raw);
    }
    const contents = [{ file, content: main }, ...(await readStationFiles(stationFiles))];
    const hash = createHash('sha256');
    for (const { file: path, content } of contents)
      hash.update(JSON.stringify(content.ok ? [path, content.text] : [path, content.error.message, 'error']));
    return hash.digest('hex');
  };
}
