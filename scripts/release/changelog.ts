/** The section of a version in CHANGELOG.md: the notes of its release. */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} / `));
  if (section === undefined) throw new Error(`CHANGELOG.md: expected a section "## ${version} / …"`);
  const [heading = '', ...lines] = section.split('\n');
  const day = heading.slice(`${version} / `.length);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) {
    throw new Error(`CHANGELOG.md: expected a day like 2026-01-31 in "## ${version} / ${day}"`);
  }
  const notes = lines.join('\n').trim();
  if (notes === '') throw new Error(`CHANGELOG.md: the section of ${version} is empty`);
  return `${notes}\n`;
}
