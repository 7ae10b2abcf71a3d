import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { readBuild } from '../src/build.ts';
import { temporaryFile } from './upstream/support/files.ts';

describe('readBuild', () => {
  it('takes the version from package.json and the revision from the file beside it', () => {
    const file = temporaryFile('package.json', '{"name": "x", "version": "4.5.6"}');
    writeFileSync(join(dirname(file), 'REVISION'), 'abc123\n');
    const folder = pathToFileURL(`${dirname(file)}/`);
    expect(readBuild(folder, 'v20.0.0')).toEqual({ version: '4.5.6', revision: 'abc123', nodeVersion: 'v20.0.0' });
  });

  it('does not know the revision of a checkout', () => {
    const { version, revision } = readBuild(new URL('../', import.meta.url), 'v20.0.0');
    expect({ version, revision }).toEqual({ version: packageJson.version, revision: 'unknown' });
  });
});
