/**
 * Writes a version to every file that names it, today's date to its section of CHANGELOG.md, and today's digests of the base images to
 * the Dockerfile. Commit the result and tag it.
 *   node scripts/release/prepare.ts VERSION
 * Needs skopeo.
 */
import { digestOfImage } from './image.ts';
import { main } from './run.ts';
import { parseVersion } from './version.ts';
import { versionProblems, writeBaseDigests, writeVersion } from './versioned-files.ts';

main(() => {
  const [text] = process.argv.slice(2);
  if (text === undefined) throw new Error('usage: node scripts/release/prepare.ts VERSION');
  const { text: version } = parseVersion(text);
  writeVersion('.', version, new Date().toISOString().slice(0, 10));
  writeBaseDigests('.', digestOfImage);
  const problems = versionProblems('.', version);
  if (problems.length > 0) throw new Error(problems.join('\n'));
});
