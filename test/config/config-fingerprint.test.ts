import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFingerprint } from '../../src/config/config-fingerprint.ts';
import { temporaryFile } from '../service/support/files.ts';

const CONFIG = `upstreams:
  main:
    basic_auth: { username: u, password_file: password }
station_files: ["$\{PREFIX}*.yaml"]
`;

function configFile() {
  const file = temporaryFile('config.yaml', CONFIG);
  return {
    file,
    path: (name: string) => join(dirname(file), name),
    read: configFingerprint(file, { PREFIX: 'more' }),
  };
}

describe('configFingerprint', () => {
  it('depends on the content of each file, not on its time', async () => {
    const { file, path, read } = configFile();
    const seen = new Set([await read()]);
    for (const name of ['more1.yaml', 'more2.yaml']) {
      writeFileSync(path(name), 'x');
      seen.add(await read());
    }
    expect(seen.size).toBe(3);
    const before = await read();
    writeFileSync(file, CONFIG);
    writeFileSync(path('other.yaml'), 'x');
    expect(await read()).toBe(before);
    writeFileSync(file, `${CONFIG}\n`);
    expect(await read()).not.toBe(before);
  });

  it('does not change when a secret is rotated, which the upstream notices by itself', async () => {
    const { path, read } = configFile();
    writeFileSync(path('password'), 'old');
    const before = await read();
    writeFileSync(path('password'), 'new');
    expect(await read()).toBe(before);
  });

  it('changes when a file disappears, and is as before when it is back', async () => {
    const { file, path, read } = configFile();
    writeFileSync(path('more1.yaml'), 'x');
    const before = await read();
    rmSync(path('more1.yaml'));
    expect(await read()).not.toBe(before);
    writeFileSync(path('more1.yaml'), 'x');
    expect(await read()).toBe(before);
    rmSync(file);
    expect(await read()).not.toBe(before);
  });

  it('keeps watching the files of the last valid configuration while it is broken', async () => {
    const { file, path, read } = configFile();
    await read();
    writeFileSync(file, 'upstreams: [');
    const before = await read();
    writeFileSync(path('more1.yaml'), 'x');
    expect(await read()).not.toBe(before);
  });
});
