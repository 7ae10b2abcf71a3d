import type { TextBuffer } from '../exposition/segment.ts';
import { escapeLabelValue, lineEnds, sampleValue } from '../exposition/text-format.ts';
import type { ResourceFamily } from './family-tables.ts';
import { type Resource, resourceLabel } from './fields.ts';
import type { ResourceSpec } from './spec.ts';

/** Lines concatenated before they are written to the buffer. */
const RESOURCES_PER_TEXT = 64;

/** Writes one text per family. */
export function writeResources(
  spec: ResourceSpec,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
  buffer: TextBuffer,
): void {
  const identities = resources.map(({ id, name }) => `${escapeLabelValue(id)}",name="${escapeLabelValue(name)}`);
  for (const family of families) {
    const lineOf = resourceLine(family, spec);
    buffer.begin(family.name);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      text += lineOf(resources[index] as Resource, identities[index] as string);
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        buffer.add(text);
        text = '';
      }
    }
    buffer.add(text);
  }
}

/** Returns the line of a resource, '' for none. `identity` is its id and its name without the first and the last quote. */
function resourceLine(family: ResourceFamily, spec: ResourceSpec): (resource: Resource, identity: string) => string {
  const { labels, sample, hasRowLabels } = family;
  const ends = lineEnds(family, spec, spec.resourceLabels.names);
  const start = `${ends.start},resource_id="`;
  const end = `"${ends.end}`;
  // Each closes the value before it: every concatenation allocates.
  const openings = labels.slice(labels.indexOf('name') + 1).map((label) => `",${label}="`);
  const resourceLabels = hasRowLabels ? spec.resourceLabels.names : [];
  const extra = resourceLabels.map((label) => [label, `",${label}="`] as const);
  return (resource, identity) => {
    const values = sample(resource);
    if (values === undefined) return '';
    let line = start + identity;
    for (let at = 0; at < openings.length; at += 1) line += openings[at] + escapeLabelValue(values[at + 1] as string);
    for (const [label, opening] of extra) line += opening + escapeLabelValue(resourceLabel(resource, label));
    return `${line}${end}${sampleValue(values[0])}\n`;
  };
}
