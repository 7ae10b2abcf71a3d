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

const KINDS: Readonly<Record<string, string>> = {
  CHANGE: 'changed',
  FEATURE: 'added',
  ENHANCEMENT: 'changed',
  BUGFIX: 'fixed',
  SECURITY: 'security',
};

/** The entries of release notes as Artifact Hub shows them, in the form of its annotation `artifacthub.io/changes`. */
export function artifactHubChanges(notes: string): readonly { readonly kind: string; readonly description: string }[] {
  return Array.from(notes.matchAll(/^\* \[(\w+)\] (.+)$/gm), ([, kind = '', description = '']) => ({
    kind: KINDS[kind] ?? 'changed',
    description,
  }));
}
