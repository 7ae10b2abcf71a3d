/**
 * Stands in for the GitHub CLI in the rehearsal: the commands that scripts/release/publish.ts uses, on a folder.
 * GH_FOLDER is the folder; GH_FAULT names a command that fails: `create`, `upload` (after half of the files) or `edit`.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const folder = process.env['GH_FOLDER'] ?? '';
const [, command = '', tag = '', ...rest] = process.argv.slice(2);
const release = join(folder, tag);
const file = join(release, 'release.json');
const fails = process.env['GH_FAULT'] === command;

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const state = () => JSON.parse(readFileSync(file, 'utf8'));
const save = (change: object) => writeFileSync(file, JSON.stringify(change));

if (command !== 'create' && !existsSync(file)) fail('release not found');
if (fails && command !== 'upload') fail('HTTP 500: injected');
if (command === 'view') {
  process.stdout.write(JSON.stringify({ isDraft: state().isDraft }));
} else if (command === 'create') {
  if (existsSync(file)) fail('a release with the same tag name already exists');
  mkdirSync(join(release, 'assets'), { recursive: true });
  const notes = readFileSync(rest[rest.indexOf('--notes-file') + 1] ?? '', 'utf8');
  save({ isDraft: true, isPrerelease: rest.includes('--prerelease=true'), latest: false, notes });
} else if (command === 'upload') {
  const files = rest.filter((argument) => argument !== '--clobber');
  for (const [index, path] of files.entries()) {
    if (fails && index >= files.length / 2) fail('HTTP 500: injected');
    copyFileSync(path, join(release, 'assets', basename(path)));
  }
} else if (command === 'edit') {
  save({ ...state(), isDraft: !rest.includes('--draft=false'), latest: rest.includes('--latest=true') });
} else {
  fail(`unknown command ${command}`);
}
